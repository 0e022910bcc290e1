// The flags of commands that run a graph for real, and what they print, for any runtime.

#ifndef TUTTI_TOOLS_RUN_REPORT_H_
#define TUTTI_TOOLS_RUN_REPORT_H_

#include <CLI/CLI.hpp>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tools/inputs.h"
#include "tools/plan_source.h"
#include "tutti/runtime/local/verify.h"
#include "tutti/trace/trace.h"

namespace tutti {

struct RunArguments {
  ProblemInputs inputs;
  CommonOptions common;
  PlanSource source;
  std::string runtime = "local";
  std::string scheduler;  // of StarPU; empty: the plan is obeyed
  std::string trace;
  int warm_up = 1;
  int repeats = 5;
  bool verify = false;
  bool bulk_synchronous = false;
  bool direct = false;

  void add_to(CLI::App& command);
  // Fails (invalid_input) on flags that contradict each other, or that the runtime does not have.
  Result<void> check() const;
};

// The bytes of a value that no op reads.
using ResultOf = std::function<Result<std::vector<std::byte>>(ValueId value)>;

// All runs of one command.
struct Runs {
  std::string policy;
  int ranks = 1;
  std::optional<Duration> predicted{};  // by the simulator; none for an online policy
  std::vector<Duration> makespans{};    // warm-up left out
  std::vector<Trace> traces{};          // of the first of these: all would take gigabytes
  bool stopped = false;                 // before all repeats; then there are no results to look at

  void add(Trace trace);
};

// Of all values that no op reads: runs with the same results have the same fingerprint.
Result<uint64_t> results_fingerprint(const Graph& graph, const ResultOf& result);

// Compares results with the reference if asked to, writes the trace, and prints all of it. Returns
// the exit code.
int report_runs(const RunArguments& arguments, const Problem& problem, const Runs& runs,
                const ResultOf& result);

}  // namespace tutti

#endif  // TUTTI_TOOLS_RUN_REPORT_H_
