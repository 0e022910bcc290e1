#include "tutti/runtime/local/local_state.h"

#include <algorithm>

namespace tutti {

Duration LocalState::free_at(DeviceId device) const {
  const std::vector<OpId>& running = online_.running[static_cast<size_t>(device.index)];
  const int slots = run_.machine_.device(device).slots;
  const Duration clock = now();
  Duration free = clock;
  if (running.size() == static_cast<size_t>(slots)) {
    free = kNever;
    for (const OpId op : running) free = std::min(free, finish(op));
    free = std::max(free, clock);  // it takes longer than it should
  }
  return free + online_.backlog[static_cast<size_t>(device.index)] / slots;
}

std::span<const DeviceId> LocalState::devices_for(OpId op) const {
  const Problem& problem = *run_.problem_;
  const int group = problem.colocation_group(op);
  if (group >= 0) {
    for (const OpId member : problem.members(group)) {
      if (!placement(member).valid()) continue;
      choices_.assign(1, placement(member));
      return choices_;
    }
  }
  const std::span<const DeviceId> allowed = problem.devices_for(op);
  if (!problem.has_memory_limits()) return allowed;
  // What is full now may be empty later; only devices that could never hold the op are left out.
  choices_.assign(allowed.begin(), allowed.end());
  std::erase_if(choices_, [&](DeviceId device) {
    return run_.bytes_at_start(op) > problem.memory_limit(problem.machine.memory_of(device));
  });
  return choices_;
}

int64_t LocalState::memory_left(DeviceId device) const {
  return run_.pool(run_.machine_.memory_of(device)).left();
}

}  // namespace tutti
