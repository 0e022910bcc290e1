#include "tutti/runtime/sim/online_state.h"

#include <algorithm>

namespace tutti {

Duration OnlineState::free_at(DeviceId device) const {
  const int slots = run_.problem_.machine.device(device).slots;
  Duration free = run_.now_;
  if (run_.free_slots_[device.index].empty()) {
    free = kNever;
    for (const OpId op : run_.running_[device.index]) free = std::min(free, run_.finish_[op.index]);
  }
  return free + run_.backlog_[device.index] / slots;
}

std::span<const DeviceId> OnlineState::devices_for(OpId op) const {
  const Problem& problem = run_.problem_;
  const int group = problem.colocation_group(op);
  if (group >= 0) {
    for (const OpId member : problem.members(group)) {
      if (!run_.device_of_[member.index].valid()) continue;
      choices_.assign(1, run_.device_of_[member.index]);
      return choices_;
    }
  }
  const std::span<const DeviceId> allowed = problem.devices_for(op);
  if (!run_.ledger_.enforced()) return allowed;
  // What is full now may be empty later; only devices that could never hold the op are left out.
  choices_.assign(allowed.begin(), allowed.end());
  std::erase_if(choices_, [&](DeviceId device) {
    return run_.ledger_.need(op) > problem.memory_limit(problem.machine.memory_of(device));
  });
  return choices_;
}

int64_t OnlineState::memory_left(DeviceId device) const {
  return run_.ledger_.left(run_.problem_.machine.memory_of(device));
}

}  // namespace tutti
