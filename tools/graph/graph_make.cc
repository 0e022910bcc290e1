#include "tools/graph/graph_make.h"

#include <fmt/format.h>

#include "tools/parse/refusal.h"
#include "tutti/base/file/json_writer.h"
#include "tutti/base/fingerprint.h"
#include "tutti/graph/file.h"

namespace tutti {

void add_graph_make(CLI::App& graph_command, int& exit_code) {
  CLI::App* make =
      graph_command.add_subcommand("make", "Make a graph: a sharded program or a seeded family");
  make->require_subcommand(1);
  make->footer("Example: tutti graph make llama-block --split tp -o graph.json");
  const MakeGraphs how{.take = [&exit_code](const MadeGraph& made) {
    exit_code = made.graph ? write_graph_to(*made.graph, made.output, made.json)
                           : report(made.graph.error());
  }};
  add_make_programs(*make, how);
  add_make_families(*make, how);
}

Result<Graph> make_graph(const std::string& words, double most_made) {
  CLI::App make("", "tutti graph make");
  make.require_subcommand(1);
  Result<Graph> graph = invalid_input("no words");
  const MakeGraphs how{.take =
                           [&](MadeGraph made) {
                             graph = made.output == "-" && !made.json
                                         ? std::move(made.graph)
                                         : invalid_input("-o and --json are not for jobs");
                           },
                       .most_made = most_made};
  add_make_programs(make, how);
  add_make_families(make, how);
  try {
    make.parse(words, /*program_name_included=*/false);
  } catch (const CLI::Success&) {  // --help
    return invalid_input("'" + words + "' makes no graph");
  } catch (const CLI::ParseError& error) {
    return invalid_input(fmt::format("'{}' makes no graph: {}", words,
                                     parse_error_text(make, error, CLI::detail::split_up(words))));
  }
  return graph;
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
