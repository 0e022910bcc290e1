// The half of tutti run that runs the commands of a graph: programs of the file's choice, which is
// why a person must allow it.

#ifndef TUTTI_TOOLS_RUN_COMMANDS_H_
#define TUTTI_TOOLS_RUN_COMMANDS_H_

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

#include "tools/inputs.h"
#include "tools/plan_source.h"

namespace tutti {

struct CommandFlags {
  bool allowed = false;
  std::string folder;  // empty: called like the graph
  bool resume = false;
  int retries = 0;
  std::string timeout;  // as "20s"; empty: none
  std::string cpu_time;
  uint64_t memory_bytes = 0;
  uint64_t output_bytes = uint64_t{1} << 20;
  std::vector<std::string> environment;  // names

  void add_to(CLI::App& command);
  // Fails (invalid_input) if the graph has commands that are not allowed, or none that are.
  Result<void> check(const Graph& graph, const std::string& path) const;
};

// Gives the exit code. A trace is written to `trace`, if that names a file.
int run_commands(const CommandFlags& flags, const ProblemInputs& inputs, const Problem& problem,
                 const PlanSource& source, const CommonOptions& common, const std::string& trace);

}  // namespace tutti

#endif  // TUTTI_TOOLS_RUN_COMMANDS_H_
