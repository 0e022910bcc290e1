#include "tutti/runtime/sim/online_state.h"

#include <algorithm>

#include "tutti/plan/world/online_choices.h"

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
  return online_choices(*this, op, run_.ledger_.need(op), choices_);
}

int64_t OnlineState::memory_left(DeviceId device) const {
  return run_.ledger_.left(run_.problem_.machine.memory_of(device));
}

}  // namespace tutti
