// Everything on the best single device: the do-nothing baseline that every plan is compared with.
//
// Refuses (infeasible) if no device may run every op and has the memory for it.

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "tutti/plan/draft.h"
#include "tutti/policy/heuristic/heuristics.h"
#include "tutti/policy/schedule/memory.h"

namespace tutti {
namespace {

bool may_run_all(const Problem& problem, DeviceId device) {
  for (const OpId op : problem.graph.ops()) {
    if (!problem.allows(op, device)) return false;
  }
  return true;
}

// All ops on one device, in topological order; the sentence why not if memory does not allow it.
Result<Plan> all_on(const Problem& problem, DeviceId device) {
  Draft draft(problem);
  for (const OpId op : problem.graph.topological_order()) {
    const auto devices = draft.devices_for(op);
    if (!std::binary_search(devices.begin(), devices.end(), device)) {
      return no_room_for(draft, op, device);
    }
    draft.apply(op, device);
  }
  return draft.to_plan();
}

}  // namespace

Result<Plan> plan_single_device(const Problem& problem, const Budget& budget, uint64_t /*seed*/) {
  std::optional<Plan> best;
  std::optional<Error> refusal;
  for (const DeviceId device : problem.machine.devices()) {
    if (best && budget.stop.now()) break;
    // Equal devices give equal plans: the first stands for its class.
    bool seen = false;
    for (const DeviceId earlier : IdRange<DeviceId>(0, device.index)) {
      const Device& a = problem.machine.device(earlier);
      const Device& b = problem.machine.device(device);
      seen = seen || (problem.costs.device_class(earlier) == problem.costs.device_class(device) &&
                      a.slots == b.slots && may_run_all(problem, earlier));
    }
    if ((seen && !problem.has_memory_limits()) || !may_run_all(problem, device)) continue;
    Result<Plan> plan = all_on(problem, device);
    if (!plan) {
      refusal = plan.error();
    } else if (!best || plan->planned_makespan < best->planned_makespan) {
      best = std::move(*plan);
    }
  }
  if (best) return std::move(*best);
  if (refusal) return *refusal;
  return infeasible(fmt::format("no single device of machine '{}' may run every op of graph '{}'",
                                problem.machine.name(), problem.graph.name()));
}

}  // namespace tutti
