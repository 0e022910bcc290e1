#include "tutti/search/dispatchers.h"

#include <algorithm>

#include "tutti/policy/heuristic/heuristics.h"
#include "tutti/policy/online/planned.h"
#include "tutti/search/auto.h"

namespace tutti {
namespace {

// Jobs of more ops than that get fewer evaluations: the run blocks while the policy plans.
constexpr int64_t kWholeBudget = 1000;

// A job is planned as if alone on the machine, without constraints. HEFT finds a plan even if a
// simulated run would not fit into the machine's memories, which `auto` refuses.
Plan plan_job_by_auto(const Problem& problem, int64_t evaluations) {
  AutoSettings settings;
  settings.budget.evaluations = std::max<int64_t>(
      evaluations * kWholeBudget / std::max<int64_t>(problem.graph.size(), kWholeBudget), 1);
  Result<AutoResult> found = plan_auto(problem, settings);
  return found ? std::move(found->plan) : plan_heft(problem, {}, 0).value();
}

DispatcherEntry planned_auto() {
  return {"planned_auto",
          "each job as auto plans it, when it first comes, as if it had the machine to itself",
          "",
          {{"evaluations", 500, 500, {100, 500}}},
          [](std::span<const double> values) {
            const auto evaluations = static_cast<int64_t>(values[0]);
            return std::make_unique<Planned>([evaluations](const Problem& problem) {
              return plan_job_by_auto(problem, evaluations);
            });
          }};
}

}  // namespace

const std::vector<DispatcherEntry>& all_dispatchers() {
  static const std::vector<DispatcherEntry> kAll = [] {
    std::vector<DispatcherEntry> all = dispatcher_registry();
    all.push_back(planned_auto());
    return all;
  }();
  return kAll;
}

Result<const DispatcherEntry*> find_any_dispatcher(std::string_view name) {
  return find_dispatcher(name, all_dispatchers());
}

}  // namespace tutti
