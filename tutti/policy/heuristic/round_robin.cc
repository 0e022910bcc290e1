#include "tutti/policy/heuristic/round_robin.h"

#include <algorithm>

#include "tutti/plan/draft.h"
#include "tutti/policy/memory.h"

namespace tutti {

Result<Plan> RoundRobin::plan(const Problem& problem, const Budget& /*budget*/, uint64_t /*seed*/) {
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
