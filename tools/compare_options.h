// What tutti compare is asked, and the plans that it runs for real, whatever the runtime.

#ifndef TUTTI_TOOLS_COMPARE_OPTIONS_H_
#define TUTTI_TOOLS_COMPARE_OPTIONS_H_

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "tools/compare_real.h"
#include "tools/inputs.h"
#include "tools/search_options.h"

namespace tutti {

struct CompareArguments {
  ProblemInputs inputs;
  ModelOptions model;
  CommonOptions common;
  SearchOptions search;
  std::vector<std::string> policies;
  int seeds = 10;
  int runs = 1;
  std::string runtime = "sim";
  std::vector<std::string> plans;       // files, for real runs
  std::vector<std::string> schedulers;  // of StarPU's
  std::vector<std::string> hosts_by;    // policies: who chooses hosts for these
  int repeats = 10;
  bool bulk_synchronous = false;
  const CLI::App* given = nullptr;  // to see which flags were given

  void add_to(CLI::App& command);
  bool for_real() const { return runtime != "sim"; }
  // Fails (invalid_input) on flags that the runtime does not look at.
  Result<void> check() const;
  // The policies asked for, or all where none is; none at all where plans or schedulers are what is
  // asked for. Fails (invalid_input) on names that do not exist and flags that nobody looks at.
  Result<std::vector<PolicyEntry>> entries(const AutoSettings& settings) const;
};

// The plans to run: one of each policy, then those of the files; under barriers as well if asked.
// A policy without a plan is left out with a warning; fails if that leaves nothing.
Result<std::vector<RealEntry>> plans_to_run(const CompareArguments& arguments,
                                            const Problem& problem,
                                            const std::vector<PolicyEntry>& entries);

}  // namespace tutti

#endif  // TUTTI_TOOLS_COMPARE_OPTIONS_H_
