#include "tutti/search/dispatchers.h"

#include <algorithm>

#include "tutti/policy/heuristic/heft.h"
#include "tutti/policy/online/planned.h"
#include "tutti/search/auto.h"

namespace tutti {
namespace {

// Of more ops than that, jobs get fewer evaluations: who decides is waited for.
constexpr int64_t kWholeBudget = 1000;

// A job has the machine to itself when it is planned, and no constraints: HEFT finds a plan even
// where a simulated run would not fit into the machine's memories, which `auto` refuses.
Plan plan_job_by_auto(const Problem& problem, int64_t evaluations) {
  AutoSettings settings;
  settings.budget.evaluations = std::max<int64_t>(
      evaluations * kWholeBudget / std::max<int64_t>(problem.graph.size(), kWholeBudget), 1);
  Result<AutoResult> found = plan_auto(problem, settings);
  return found ? std::move(found->plan) : Heft().plan(problem, {}, 0).value();
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
