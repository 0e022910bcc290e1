// The best subset of devices: over slow links fewer devices are often quicker, which no rule sees
// that looks at one op at a time. Subsets grow by speed and closeness (subsets.h), each is planned
// with contention-aware earliest finish, and the plan of the least estimated makespan is taken.
//
// Tries every size up to 8 devices, then 16, 32, and so on, and all. An op that may run on none of
// the subset goes where it may.

#include <algorithm>
#include <optional>
#include <vector>

#include "tutti/policy/heuristic/contention_eft.h"
#include "tutti/policy/heuristic/heuristics.h"
#include "tutti/policy/places/subsets.h"

namespace tutti {
namespace {

constexpr size_t kEverySize = 8;

}  // namespace

Result<Plan> plan_best_subset(const Problem& problem, const Budget& budget, uint64_t /*seed*/) {
  const std::vector<DeviceId> devices =
      devices_by_speed_and_closeness(problem, device_speeds(problem));
  Teams teams;
  teams.of_op.assign(static_cast<size_t>(problem.graph.size()), 0);
  teams.devices.assign(1, std::vector<bool>(static_cast<size_t>(problem.machine.size()), false));
  std::optional<Result<Plan>> best;
  size_t taken = 0;
  while (taken < devices.size()) {
    const size_t size = std::min(devices.size(), taken < kEverySize ? taken + 1 : 2 * taken);
    for (; taken < size; ++taken) {
      teams.devices[0][static_cast<size_t>(devices[taken].index)] = true;
    }
    Result<Plan> plan = contention_eft(problem, {.teams = &teams, .stop = budget.stop});
    const bool better =
        !best || (plan && (!*best || plan->planned_makespan < (*best)->planned_makespan));
    if (better) best = std::move(plan);
    if (budget.stop.now()) break;
  }
  return std::move(*best);
}

}  // namespace tutti
