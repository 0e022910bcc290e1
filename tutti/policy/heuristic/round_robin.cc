// Round robin: ops in topological order, each on the next device in turn that may run it and has
// room. Knows neither times nor transfers; what it shows is how much a policy gains by looking.

#include <algorithm>

#include "tutti/plan/draft.h"
#include "tutti/policy/heuristic/heuristics.h"
#include "tutti/policy/schedule/memory.h"

namespace tutti {

Result<Plan> plan_round_robin(const Problem& problem, const Budget& /*budget*/, uint64_t /*seed*/) {
  Draft draft(problem);
  DeviceId turn{0};
  for (const OpId op : problem.graph.topological_order()) {
    const auto devices = draft.devices_for(op);
    if (devices.empty()) return no_room_for(draft, op);
    const auto next = std::lower_bound(devices.begin(), devices.end(), turn);
    const DeviceId device = next == devices.end() ? devices.front() : *next;
    draft.apply(op, device);
    turn = DeviceId{(device.index + 1) % problem.machine.size()};
  }
  return draft.to_plan();
}

}  // namespace tutti
