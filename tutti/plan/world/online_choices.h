// The devices that an online policy may choose from for an op while a graph runs: the same in all
// runtimes.

#ifndef TUTTI_PLAN_WORLD_ONLINE_CHOICES_H_
#define TUTTI_PLAN_WORLD_ONLINE_CHOICES_H_

#include <span>
#include <vector>

#include "tutti/plan/state.h"

namespace tutti {

// The device of the op's colocation group once a member is placed; else those that may run it and
// could hold `bytes_at_start` in an empty memory. `buffer` may be used for the answer, which is
// good until either changes.
inline std::span<const DeviceId> online_choices(const State& state, OpId op, int64_t bytes_at_start,
                                                std::vector<DeviceId>& buffer) {
  const Problem& problem = state.problem();
  if (const int group = problem.colocation_group(op); group >= 0) {
    for (const OpId member : problem.members(group)) {
      if (!state.placement(member).valid()) continue;
      buffer.assign(1, state.placement(member));
      return buffer;
    }
  }
  const std::span<const DeviceId> allowed = problem.devices_for(op);
  if (!problem.has_memory_limits()) return allowed;
  // What is full now may be empty later; only devices that could never hold the op are left out.
  buffer.assign(allowed.begin(), allowed.end());
  std::erase_if(buffer, [&](DeviceId device) {
    return bytes_at_start > problem.memory_limit(problem.machine.memory_of(device));
  });
  return buffer;
}

}  // namespace tutti

#endif  // TUTTI_PLAN_WORLD_ONLINE_CHOICES_H_
