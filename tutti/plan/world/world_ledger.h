// A WorldLedger keeps a WorldState up to date while jobs arrive and ops are given to devices, start
// and end. The runtime, simulated or real, reports each event to it and shows state() to deciders.
// It knows nothing of how long things take.
//
// An op that is given to a device gets a free slot at once, in which it waits for its operands; if
// there is none it waits in the device's queue. An op that starts takes a free slot, or that of an
// op which has not started: that one waits in the queue then.
//
// For one thread.

#ifndef TUTTI_PLAN_WORLD_WORLD_LEDGER_H_
#define TUTTI_PLAN_WORLD_WORLD_LEDGER_H_

#include <vector>

#include "tutti/plan/world/decider.h"

namespace tutti {

class WorldLedger {
 public:
  // The cluster must outlive it. `depth`: how many ops may wait behind the busy slots of a device.
  explicit WorldLedger(const Cluster& cluster, std::vector<Counter> counters = {},
                       int32_t depth = 0);

  // Forgets everything; the clock stands at 0.
  void reset();

  const WorldState& state() const { return state_; }

  // Time passes. Never backwards.
  void set_time(Duration now) { state_.now = now; }
  // A new epoch begins: forgets what was launched and what ended in the last one.
  void begin_epoch();
  // The clock moves on within the epoch: forgets only what was launched.
  void forget_launched() { state_.launched.clear(); }
  std::vector<CounterReading>& readings() { return state_.readings; }
  std::vector<int64_t>& memory_left() { return state_.memory_left; }
  // Has no effect on devices with contexts.
  void set_depth(DeviceId device, int32_t depth);

  // Jobs are numbered as they are admitted. One without ops has ended at once (left == 0).
  JobStatus& admit(std::shared_ptr<const Job> job);
  // Both require check_action. configure returns the slot, numbered across devices.
  void execute(const Action& action);
  int32_t configure(const Action& action);
  // An op that was executed has not started and is ready again.
  void take_back(JobStatus& job, OpId op);
  // An op that was executed has its operands and runs. Returns its slot, numbered across devices.
  int32_t start(JobStatus& job, OpId op);
  // The value has come to that memory.
  void arrive(JobStatus& job, ValueId value, MemoryId memory);
  // An op that runs has ended: its outputs are there, and its consumers may be ready.
  const FinishedOp& finish(JobStatus& job, OpId op);
  // The context is configured.
  void configured(int32_t slot);
  // None of its ops will be executed any more: they are not ready, and do not become so.
  void abandon(JobStatus& job);
  // While a job is hidden, deciders see neither it nor its ready ops. Slots and queues show what
  // was launched of it.
  void hide(JobStatus& job);
  void show(JobStatus& job);
  // All ops of the job have ended, or it is given up while none of them is queued or runs.
  void remove(JobId job);

  JobStatus& job(JobId id) { return *state_.jobs[static_cast<size_t>(id.index)]; }

  // Over ops that are ready or launched: the sum of 1 / their least run time in nanoseconds.
  double unsettled() const { return unsettled_; }

 private:
  void make_ready(JobStatus& job, OpId op);
  // An op is neither ready nor launched any more.
  void settle(const JobStatus& job, OpId op);
  void take(int32_t slot, SlotStatus::Phase phase);
  // For an op that was executed: the slot is its own from now on.
  void give_slot(int32_t slot, JobStatus& job, OpId op);
  void release(int32_t slot);
  // The first op of the device's queue gets that slot, which is idle.
  void serve_queue(DeviceId device, int32_t slot);
  DeviceStatus& device(DeviceId id) { return state_.devices[id.index]; }

  const Cluster& cluster_;
  int32_t depth_;
  WorldState state_;
  ChunkTable<std::vector<int32_t>> waiting_for_;  // by job and op: operands that are not made yet
  double unsettled_ = 0;
  int64_t unsettled_count_ = 0;
};

}  // namespace tutti

#endif  // TUTTI_PLAN_WORLD_WORLD_LEDGER_H_
