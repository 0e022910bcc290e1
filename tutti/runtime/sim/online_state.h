// What an online policy sees of a simulated run.

#ifndef TUTTI_RUNTIME_SIM_ONLINE_STATE_H_
#define TUTTI_RUNTIME_SIM_ONLINE_STATE_H_

#include <vector>

#include "tutti/plan/state.h"
#include "tutti/runtime/sim/physical.h"

namespace tutti {

class OnlineState : public State {
 public:
  explicit OnlineState(const PhysicalSimulator& run) : run_(run) {}

  const Problem& problem() const override { return run_.problem_; }
  Duration now() const override { return run_.now_; }
  std::span<const OpId> ready() const override { return run_.undecided_; }
  DeviceId placement(OpId op) const override { return run_.device_of_[op.index]; }
  Duration finish(OpId op) const override { return run_.finish_[op.index]; }
  // The first running op to end, then what is queued, spread over the slots.
  Duration free_at(DeviceId device) const override;
  std::span<const DeviceId> devices_for(OpId op) const override;
  int64_t memory_left(DeviceId device) const override;

 private:
  const PhysicalSimulator& run_;
  mutable std::vector<DeviceId> choices_;
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_SIM_ONLINE_STATE_H_
