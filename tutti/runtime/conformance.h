// The conformance kit: small problems that together meet every rule, and what any runtime must do
// with them. A new runtime calls conformance_faults for each case; a new policy does the same with
// its plans (test/policy_conformance_test.cc). Neither needs tests of its own for these rules.

#ifndef TUTTI_RUNTIME_CONFORMANCE_H_
#define TUTTI_RUNTIME_CONFORMANCE_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tutti/plan/problem.h"
#include "tutti/runtime/runtime.h"

namespace tutti {

struct ConformanceCase {
  std::string name;
  bool tight_memory = false;  // a planner may refuse it (infeasible)
  Graph graph;
  Machine machine;
  Costs costs;
  std::unique_ptr<Problem> problem;
};

struct ConformanceOptions {
  std::string device_kind{};              // of all devices; empty: as the machines have it
  int units = 0;                          // of all devices of such a kind
  int64_t unit_bytes = int64_t{1} << 20;  // small values have one of these, large ones eight
};

// Each stands where it was made: its problem refers to its parts.
std::vector<std::unique_ptr<ConformanceCase>> conformance_cases(
    const ConformanceOptions& options = {});

// Runs the plan twice and says what is wrong: an error, a broken rule, a makespan below the bound,
// or (for runtimes that promise it) a second run that differs from the first.
std::vector<std::string> conformance_faults(Runtime& runtime, const Problem& problem,
                                            const Plan& plan, bool repeatable);

// The same for an online policy; made for each run, so that its seed starts from the beginning.
std::vector<std::string> online_conformance_faults(Runtime& runtime, const Problem& problem,
                                                   const std::function<Policy()>& make_policy,
                                                   bool repeatable);

}  // namespace tutti

#endif  // TUTTI_RUNTIME_CONFORMANCE_H_
