// tutti graph make: one sub-command for each graph that tutti can make.

#ifndef TUTTI_TOOLS_GRAPH_MAKE_H_
#define TUTTI_TOOLS_GRAPH_MAKE_H_

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>

#include "tools/inputs.h"
#include "tutti/base/result.h"
#include "tutti/graph/graph.h"

namespace tutti {

// Adds them all to `tutti graph`.
void add_graph_make(CLI::App& graph_command, int& exit_code);

// Their parts: programs that are sharded, and seeded families.
void add_make_programs(CLI::App& make, int& exit_code);
void add_make_families(CLI::App& make, int& exit_code);

// Writes a graph to a file, or to standard output for "-". Gives the exit code.
int write_graph_to(const Graph& graph, const std::string& path, bool json);

// One sub-command that fills a spec from its flags and makes a graph of it.
template <class Spec>
struct Maker {
  using Make = std::function<Result<Graph>(const Spec&)>;

  Maker(CLI::App& make, const std::string& name, const std::string& about,
        const std::string& example)
      : command(make.add_subcommand(name, about)), spec(std::make_shared<Spec>()) {
    command->footer("Example: tutti graph make " + name + " " + example + " -o graph.json");
  }

  template <class Value>
  CLI::Option* flag(const std::string& name, Value& value, const std::string& about) {
    return command->add_option(name, value, about)->capture_default_str();
  }

  // Adds -o and runs `make_graph` when the command is chosen.
  void run(Make make_graph, int& exit_code) {
    auto output = std::make_shared<std::string>("-");
    command->add_option("-o,--output", *output, "Write it here; default: standard output");
    auto json = std::make_shared<bool>(false);
    command->add_flag("--json", *json, "With -o FILE: print what was made as JSON");
    if (command->get_option_no_throw("--seed") == nullptr) accept_seed(*command);
    command->callback([own = spec, output, json, make_graph, &exit_code] {
      const Result<Graph> graph = make_graph(*own);
      exit_code = graph ? write_graph_to(*graph, *output, *json) : report(graph.error());
    });
  }

  CLI::App* command;
  std::shared_ptr<Spec> spec;
};

}  // namespace tutti

#endif  // TUTTI_TOOLS_GRAPH_MAKE_H_
