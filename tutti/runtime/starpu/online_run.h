// A run in which a policy is asked as it goes, on one rank: ops are submitted to StarPU when the
// policy has placed them, and the thread that completes an op or a transfer asks about those that
// are ready for a decision, one thread at a time.

#ifndef TUTTI_RUNTIME_STARPU_ONLINE_RUN_H_
#define TUTTI_RUNTIME_STARPU_ONLINE_RUN_H_

#include <condition_variable>
#include <mutex>
#include <optional>
#include <vector>

#include "tutti/plan/policy.h"
#include "tutti/plan/state.h"
#include "tutti/runtime/starpu/rank_run.h"

namespace tutti {

class OnlineRun : private State {
 public:
  // Requires a single rank.
  OnlineRun(const RankRun::Place& place, Session& session, const Problem& problem, Policy& policy);

  // Fails with a sentence as RankRun does, and if the policy waits for ever.
  Result<void> run();
  Trace trace() const;
  std::map<ValueId, std::vector<std::byte>> take_results() { return base_.take_results(); }

 private:
  // State: what the policy sees. Called while it is asked.
  const Problem& problem() const override { return base_.problem_; }
  Duration now() const override;
  std::span<const OpId> ready() const override { return undecided_; }
  DeviceId placement(OpId op) const override { return placement_[op.index]; }
  Duration finish(OpId op) const override { return finish_[op.index]; }
  Duration free_at(DeviceId device) const override;
  std::span<const DeviceId> devices_for(OpId op) const override;
  int64_t memory_left(DeviceId device) const override;

  // All of these require mutex_.
  void decide();
  void place(OpId op, DeviceId device);
  RankRun::Copy& copy_in(ValueId value, MemoryId memory);
  void read(RankRun::Task& task, RankRun::Copy& copy);
  void start(RankRun::Task& task);
  void completed(RankRun::Task& task);

  RankRun base_;
  Policy& policy_;
  // Callbacks of StarPU come from its threads.
  std::mutex mutex_;
  std::condition_variable ended_;
  int64_t ended_ops_ = 0;
  std::vector<OpId> undecided_;
  std::vector<int32_t> unmade_;        // by op
  std::vector<DeviceId> placement_;    // by op
  std::vector<Duration> finish_;       // by op, expected while it runs
  std::vector<std::vector<OpId>> on_;  // by device: placed and not ended
  std::vector<PlacedAt> placed_;
  std::vector<Pause> pauses_;
  std::optional<Duration> paused_;
  mutable std::vector<DeviceId> choices_;
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_STARPU_ONLINE_RUN_H_
