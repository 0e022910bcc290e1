// A ClusterLedger keeps a ClusterState up to date while jobs arrive and ops are launched and end.
// The runtime, simulated or real, reports each event to it and shows state() to dispatchers. It
// knows nothing of how long things take.
//
// For one thread.

#ifndef TUTTI_PLAN_CLUSTER_LEDGER_H_
#define TUTTI_PLAN_CLUSTER_LEDGER_H_

#include <vector>

#include "tutti/plan/dispatch.h"

namespace tutti {

class ClusterLedger {
 public:
  // The cluster must outlive it.
  explicit ClusterLedger(const Cluster& cluster, std::vector<Counter> counters = {});

  // Forgets everything; the clock stands at 0.
  void reset();

  const ClusterState& state() const { return state_; }

  // Time passes. Never backwards.
  void set_time(Duration now) { state_.now = now; }
  // A new epoch begins: forgets what was launched and what ended in the last one.
  void begin_epoch();
  std::vector<CounterReading>& readings() { return state_.readings; }

  // Jobs are numbered as they are admitted. One without ops has ended at once (left == 0).
  JobStatus& admit(std::shared_ptr<const Job> job);
  // Both require check_action. They return the slot (numbered across devices) that was taken.
  int32_t launch(const Action& action);
  int32_t configure(const Action& action);
  // The op in that slot has its operands and runs.
  void start(int32_t slot);
  // The value has come to that memory.
  void arrive(JobStatus& job, ValueId value, MemoryId memory);
  // The op in that slot has ended: its outputs are there, and its consumers may be ready.
  const FinishedOp& finish(int32_t slot);
  // The context is configured.
  void configured(int32_t slot);
  // All ops of the job have ended, or it is given up while none of them is launched.
  void remove(JobId job);

  JobStatus& job(JobId id) { return *state_.jobs[id.index]; }

  // Over ops that are ready or launched: the sum of 1 / their least run time in nanoseconds.
  double unsettled() const { return unsettled_; }

 private:
  void make_ready(JobStatus& job, OpId op);
  void take(int32_t slot, SlotStatus::Phase phase);
  void release(int32_t slot);

  const Cluster& cluster_;
  ClusterState state_;
  std::vector<std::vector<int32_t>> waiting_for_;  // by job and op: operands that are not made yet
  double unsettled_ = 0;
  int64_t unsettled_count_ = 0;
};

}  // namespace tutti

#endif  // TUTTI_PLAN_CLUSTER_LEDGER_H_
