#include "tools/graph_make.h"

#include <fmt/format.h>

#include "tutti/base/fingerprint.h"
#include "tutti/base/json_writer.h"
#include "tutti/base/output.h"
#include "tutti/graph/file.h"

namespace tutti {

void add_graph_make(CLI::App& graph_command, int& exit_code) {
  CLI::App* make =
      graph_command.add_subcommand("make", "Make a graph: a sharded program or a seeded family");
  make->require_subcommand(1);
  make->footer("Example: tutti graph make llama-block --split tp -o graph.json");
  add_make_programs(*make, exit_code);
  add_make_families(*make, exit_code);
}

int write_graph_to(const Graph& graph, const std::string& path, bool json) {
  Result<Output> output = Output::open(path);
  if (!output) return report(output.error());
  write_graph(graph, *output);
  const Result<void> written = output->commit();
  if (!written) return report(written.error());
  if (path == "-") return 0;
  if (json) {
    JsonWriter writer;
    writer.open_object().field("schema_version", 1).field("graph", graph.name());
    writer.field("output", path).field("ops", graph.size()).field("edges", graph.edge_count());
    writer.field("fingerprint", fingerprint_text(graph.fingerprint())).close_object();
    fmt::print("{}", writer.text());
  } else {
    fmt::print(stderr, "{}: {} ops, {} edges\n", path, graph.size(), graph.edge_count());
  }
  return 0;
}

}  // namespace tutti
