// tutti graph make: one sub-command for each graph that tutti can make.

#ifndef TUTTI_TOOLS_GRAPH_GRAPH_MAKE_H_
#define TUTTI_TOOLS_GRAPH_GRAPH_MAKE_H_

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>

#include "tools/inputs.h"
#include "tutti/base/result.h"
#include "tutti/graph/graph.h"
#include "tutti/graph/limits.h"

namespace tutti {

// Adds them all to `tutti graph`.
void add_graph_make(CLI::App& graph_command, int& exit_code);

// The graph of the words that stand behind `tutti graph make`, such as "cholesky --tiles 4".
// `most_made` ops and edges are made at most. Fails (invalid_input) on words that make none.
Result<Graph> make_graph(const std::string& words, double most_made);

// What becomes of a graph that was made.
struct MadeGraph {
  Result<Graph> graph;
  std::string output;  // of -o
  bool json = false;
};
struct MakeGraphs {
  std::function<void(MadeGraph)> take;
  double most_made = kMostMade;
};

// The sub-commands: programs that are sharded, and seeded families.
void add_make_programs(CLI::App& make, const MakeGraphs& how);
void add_make_families(CLI::App& make, const MakeGraphs& how);

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
  void run(Make make_graph, const MakeGraphs& how) {
    limit(*spec, how.most_made);
    auto output = std::make_shared<std::string>("-");
    command->add_option("-o,--output", *output, "Write it here; default: standard output");
    auto json = std::make_shared<bool>(false);
    command->add_flag("--json", *json, "With -o FILE: print what was made as JSON");
    if (command->get_option_no_throw("--seed") == nullptr) accept_seed(*command);
    command->callback([own = spec, output, json, make_graph, take = how.take] {
      take({make_graph(*own), *output, *json});
    });
  }

  // Wherever the spec keeps its limit.
  template <class Any>
  static void limit(Any& any, double most_made) {
    if constexpr (requires { any.most_made; }) {
      any.most_made = most_made;
    } else if constexpr (requires { any.weights; }) {
      any.weights.most_made = most_made;
    } else {
      any.spec.most_made = most_made;
    }
  }

  CLI::App* command;
  std::shared_ptr<Spec> spec;
};

}  // namespace tutti

#endif  // TUTTI_TOOLS_GRAPH_GRAPH_MAKE_H_
