// The flags of tutti compare, and the plans that it runs for real, for any runtime.

#ifndef TUTTI_TOOLS_COMPARE_COMPARE_OPTIONS_H_
#define TUTTI_TOOLS_COMPARE_COMPARE_OPTIONS_H_

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "tools/inputs.h"
#include "tools/search_options.h"
#include "tutti/calibrate/measure/compare_plans.h"

namespace tutti {

struct CompareArguments {
  ProblemInputs inputs;
  ModelOptions model;
  CommonOptions common;
  SearchOptions search;
  ObjectiveOptions objective;
  std::vector<std::string> policies;
  int seeds = 10;
  int runs = 1;
  std::string runtime = "sim";
  std::vector<std::string> plans;       // files, for real runs
  std::vector<std::string> schedulers;  // of StarPU
  std::vector<std::string> hosts_by;    // policies that choose hosts for these
  int repeats = 10;
  bool bulk_synchronous = false;
  const CLI::App* given = nullptr;  // to see which flags were given

  void add_to(CLI::App& command);
  bool for_real() const { return runtime != "sim"; }
  // Fails (invalid_input) on flags that the runtime does not look at.
  Result<void> check() const;
  // The policies asked for. Without any: all, or none if plans or schedulers were asked for. Fails
  // (invalid_input) on names that do not exist and on flags that none of the policies uses.
  Result<std::vector<PolicyEntry>> entries(const AutoSettings& settings) const;
};

// Compares policies by the time per pass of their plans, simulated. The exit code. Requires
// arguments that are checked, and the objective throughput.
int run_compare_for_throughput(const CompareArguments& arguments, const AutoSettings& settings);

// The plans to run: one of each policy, then those of the files; with barriers as well if asked.
// A policy without a plan is left out with a warning. Fails if no plan is left.
Result<std::vector<PlanToRun>> plans_to_run(const CompareArguments& arguments,
                                            const Problem& problem,
                                            const std::vector<PolicyEntry>& entries);

// Shows on a terminal which turn begins.
void show_turn(int turn, int turns);

}  // namespace tutti

#endif  // TUTTI_TOOLS_COMPARE_COMPARE_OPTIONS_H_
