#include "tutti/policy/registry.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tutti/policy/heuristic/cpop.h"
#include "tutti/policy/heuristic/critical_path.h"
#include "tutti/policy/heuristic/critical_path_released.h"
#include "tutti/policy/heuristic/heft.h"
#include "tutti/policy/heuristic/random.h"
#include "tutti/policy/heuristic/single_device.h"

namespace tutti {
namespace {

template <class PlannerType>
std::unique_ptr<Planner> make() {
  return std::make_unique<PlannerType>();
}

PolicyEntry step_by_step(std::string name, std::string what, std::string source,
                         const MakePolicy& make_policy) {
  return {.name = std::move(name),
          .what = std::move(what),
          .source = std::move(source),
          .seeded = true,
          .make_planner = [make_policy] { return std::make_unique<ListPlanner>(make_policy); },
          .make_policy = make_policy};
}

}  // namespace

const std::vector<PolicyEntry>& policy_registry() {
  static const std::vector<PolicyEntry> kEntries = {
      {.name = "single_device",
       .what = "everything on the best single device: the do-nothing baseline",
       .source = "",
       .make_planner = make<SingleDevice>},
      step_by_step("random", "any ready op on any device: the smallest policy, to copy from", "",
                   random_policy),
      step_by_step("critical_path",
                   "longest way to the end first, on the device that starts it first",
                   "Yao et al. 2025 (Doppler), both defects mended", critical_path_policy),
      {.name = "critical_path_released",
       .what = "critical path with the defects it was published with, for comparison only",
       .source = "Yao et al. 2025 (Doppler), as released",
       .seeded = true,
       .for_comparison = true,
       .make_planner = make<CriticalPathReleased>},
      {.name = "heft",
       .what = "highest upward rank first, on the device that finishes it first, with insertion",
       .source = "Topcuoglu, Hariri, Wu 2002",
       .make_planner = make<Heft>},
      {.name = "cpop",
       .what = "the critical path on one device, the rest where it finishes first",
       .source = "Topcuoglu, Hariri, Wu 2002",
       .make_planner = make<Cpop>},
  };
  return kEntries;
}

Result<const PolicyEntry*> find_policy(std::string_view name) {
  std::vector<std::string_view> names;
  for (const PolicyEntry& entry : policy_registry()) {
    if (entry.name == name) return &entry;
    names.push_back(entry.name);
  }
  return invalid_input(
      fmt::format("there is no policy '{}'; there are: {}", name, fmt::join(names, ", ")));
}

Result<Plan> make_plan(const PolicyEntry& entry, const Problem& problem, const Budget& budget,
                       uint64_t seed) {
  Result<Plan> plan = entry.make_planner()->plan(problem, budget, seed);
  if (!plan) return plan.error();
  if (plan->provenance.policy.empty()) plan->provenance.policy = entry.name;
  plan->provenance.seed = seed;
  plan->provenance.graph_fingerprint = problem.graph.fingerprint();
  plan->provenance.machine_fingerprint = problem.machine.fingerprint();
  plan->provenance.costs_fingerprint = problem.costs.fingerprint();
  return plan;
}

}  // namespace tutti
