#include "tutti/plan/world/world_state.h"

#include <algorithm>

namespace tutti {
int WorldState::free_slot(DeviceId device, OpKindId kind) const {
  if (devices[device.index].idle_slots == 0) return -1;
  const Device& item = cluster->machine().device(device);
  const SlotStatus* mine = slots.data() + cluster->first_slot(device);
  const int cores = cores_of(item);
  int found = -1;
  for (int s = 0; s < item.slots; ++s) {
    if (!mine[s].is_idle() || (item.contexts > 0 && mine[s].configured != kind)) continue;
    if (item.contexts > 0 || item.slots <= cores) return s;
    bool alone = true;  // among the hardware threads of its core
    for (int other = s % cores; other < item.slots; other += cores) {
      alone = alone && mine[other].is_idle();
    }
    if (alone) return s;
    if (found < 0) found = s;
  }
  return found;
}

Duration WorldState::fetch_time(const JobStatus& status, OpId op, DeviceId device) const {
  const Job& job = *status.job;
  const Machine& machine = cluster->machine();
  const MemoryId to = machine.memory_of(device);
  Duration longest{0};
  for (const EdgeId edge : job.graph().edges(op)) {
    const ValueId value = job.graph().edge_value(edge);
    if (status.holds(to, value)) continue;
    const OpId from_op = job.graph().edge_from(edge);
    Duration least = kNever;
    if (from_op.valid() && job.costs().has_given_transfers()) {
      least = job.costs()
                  .given_transfer(edge, status.ops[from_op.index].device, device)
                  .value_or(kNever);
    }
    for (int32_t m = 0; least == kNever && m < machine.memory_count(); ++m) {
      if (!status.holds(MemoryId{m}, value) || machine.route(MemoryId{m}, to) == nullptr) continue;
      least = std::min(least, job.costs().transfer_time(value, MemoryId{m}, to));
    }
    longest = std::max(longest, least);
  }
  return longest;
}

Duration WorldState::free_at(DeviceId device) const {
  const int slot_count = cluster->machine().device(device).slots;
  Duration first = kNever;
  for (int s = 0; s < slot_count; ++s) {
    const SlotStatus& status = slot(device, s);
    Duration until = now;
    if (status.phase == SlotStatus::Phase::busy) {
      const OpStatus& op = job(status.job).ops[status.op.index];
      if (op.phase == OpStatus::Phase::running) until = std::max(now, op.finished);
    }
    first = std::min(first, until);
  }
  return first + devices[device.index].backlog / slot_count;
}

}  // namespace tutti
