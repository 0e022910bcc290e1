// A JobView shows one job of a WorldState as a State, so that Select and Place
// (tutti/plan/policy.h) can be asked about jobs that arrive. Ready are only the ops for which some
// device has room now.
//
// It is good until the WorldState changes. For one thread.

#ifndef TUTTI_PLAN_WORLD_JOB_VIEW_H_
#define TUTTI_PLAN_WORLD_JOB_VIEW_H_

#include <vector>

#include "tutti/plan/state.h"
#include "tutti/plan/world/world_state.h"

namespace tutti {

class JobView final : public State {
 public:
  // Keeps references to both. Takes time in proportion to the job's ready ops.
  JobView(const WorldState& state, const JobStatus& job);

  const Problem& problem() const override { return job_.job->problem(); }
  Duration now() const override { return state_.now; }
  std::span<const OpId> ready() const override { return ready_; }
  DeviceId placement(OpId op) const override { return job_.ops[op.index].device; }
  // Of an op that waits in a queue: when all that was given to its device has run.
  Duration finish(OpId op) const override;
  Duration free_at(DeviceId device) const override { return state_.free_at(device); }
  // Those of eventual_devices(op) that have room.
  std::span<const DeviceId> devices_for(OpId op) const override;
  int64_t memory_left(DeviceId device) const override {
    return state_.memory_left[problem().machine.memory_of(device).index];
  }

  // The devices on which the op may run now or later (tutti/plan/world/online_choices.h).
  std::span<const DeviceId> eventual_devices(OpId op) const;

 private:
  bool has_room(OpId op, DeviceId device) const {
    return state_.has_room(device, job_.job->kind(op));
  }

  const WorldState& state_;
  const JobStatus& job_;
  std::vector<OpId> ready_;
  mutable std::vector<DeviceId> eventual_;  // buffers of what was returned last
  mutable std::vector<DeviceId> choices_;
};

}  // namespace tutti

#endif  // TUTTI_PLAN_WORLD_JOB_VIEW_H_
