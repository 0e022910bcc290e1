// What a command runs: the plan of a file, a plan that a policy makes, or a policy that decides
// during the run.

#ifndef TUTTI_TOOLS_PLAN_SOURCE_H_
#define TUTTI_TOOLS_PLAN_SOURCE_H_

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "tools/inputs.h"
#include "tools/search_options.h"
#include "tutti/policy/registry.h"
#include "tutti/runtime/runtime.h"

namespace tutti {

struct PlanSource {
  std::string plan;    // a file
  std::string policy;  // by name; neither: auto
  bool online = false;
  SearchOptions search;

  void add_to(CLI::App& command);
  // Fails (invalid_input) on flags that contradict each other.
  Result<void> check() const;
  // The files that are read, for check_output.
  std::vector<std::string> names() const { return {plan, search.network}; }
  // Requires that it is not online.
  Result<Plan> get(const Problem& problem, const ModelOptions& model,
                   const CommonOptions& common) const;
  // Requires that it is online. Fails (invalid_input) if the policy cannot be asked during a run.
  Result<const PolicyEntry*> online_policy() const;
  // Runs the plan, or the online policy if it is null.
  Result<Trace> run(const Problem& problem, const Plan* made, Runtime& runtime,
                    uint64_t seed) const;
  // What a result names as its policy.
  std::string name(const Plan* made) const;
};

}  // namespace tutti

#endif  // TUTTI_TOOLS_PLAN_SOURCE_H_
