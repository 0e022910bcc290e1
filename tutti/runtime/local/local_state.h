// What an online policy sees of a real run. Made and used while the run decides.

#ifndef TUTTI_RUNTIME_LOCAL_LOCAL_STATE_H_
#define TUTTI_RUNTIME_LOCAL_LOCAL_STATE_H_

#include <vector>

#include "tutti/plan/state.h"
#include "tutti/runtime/local/run.h"

namespace tutti {

class LocalState : public State {
 public:
  LocalState(const Run& run, const Run::Online& online) : run_(run), online_(online) {}

  const Problem& problem() const override { return *run_.problem_; }
  Duration now() const override { return run_.time_of(run_.clock_.now()); }
  std::span<const OpId> ready() const override { return online_.undecided; }
  DeviceId placement(OpId op) const override { return run_.device_of_[op.index]; }
  Duration finish(OpId op) const override { return online_.finish[static_cast<size_t>(op.index)]; }
  // The first running op to end as far as its cost says, then what is queued, over the slots.
  Duration free_at(DeviceId device) const override;
  std::span<const DeviceId> devices_for(OpId op) const override;
  int64_t memory_left(DeviceId device) const override;

 private:
  const Run& run_;
  const Run::Online& online_;
  mutable std::vector<DeviceId> choices_;
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_LOCAL_LOCAL_STATE_H_
