// The scheduler of the engine: it alone decides. It keeps the state of the world by what
// slots and lanes report, asks the Decider, and gives ops to devices. Devices never wait for it as
// long as their queues have something to run.
//
// Where no core is left for its thread, slots that have nothing to do take over its work meanwhile:
// a device that has nothing to run loses nothing by deciding. One thread at a time does it.
//
// Functions are called by the thread that has this role unless they say otherwise.

#ifndef TUTTI_RUNTIME_LOCAL_JOBS_SCHEDULER_H_
#define TUTTI_RUNTIME_LOCAL_JOBS_SCHEDULER_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "tutti/base/chunk_table.h"
#include "tutti/plan/world/share_gate.h"
#include "tutti/plan/world/world_ledger.h"
#include "tutti/runtime/local/jobs/device_queue.h"
#include "tutti/runtime/local/jobs/job_run.h"
#include "tutti/runtime/local/jobs/mailbox.h"
#include "tutti/runtime/local/jobs/options.h"
#include "tutti/runtime/local/jobs/own_counters.h"
#include "tutti/runtime/local/jobs/transfers.h"

namespace tutti {

class Scheduler {
 public:
  // What it shares with the threads of slots and lanes.
  struct Parts {
    const Cluster& cluster;
    const TickClock& clock;
    Memories& memories;
    Transfers& transfers;
    std::vector<std::unique_ptr<DeviceQueue>>& queues;  // by device
    Mailbox& mailbox;
    const JobEngineOptions& options;
  };
  explicit Scheduler(Parts parts) : parts_(parts) {}

  // A run begins, with the options of now. Before its thread starts. Arrivals by rising time.
  void begin(Decider& decider, uint64_t seed, std::vector<std::shared_ptr<JobRun>> arrivals);
  // Until stop() was called and no job is left.
  void work();
  // By a slot that has nothing to do: does the scheduler's work for it, unless that is being done,
  // until there is something in that queue.
  void help(const DeviceQueue& queue);
  // By a thread that has just written: the same, for all there is to do now.
  void help();

  // Any thread.
  void stop() {
    stops_.store(true);
    parts_.mailbox.wake();
  }
  // The decider may have another answer, though nothing happened.
  void ask_again() {
    other_rules_.store(true);
    parts_.mailbox.wake();
  }
  // Jobs that were given to begin or admitted and have not ended; ops that have ended.
  int64_t jobs_left() const { return jobs_left_.load(); }
  int64_t ended_ops() const { return ended_ops_.load(std::memory_order_relaxed); }
  void count_job() { jobs_left_.fetch_add(1); }
  // Waits until no job is left, for that long at most. True if none is.
  bool wait_for_end(std::chrono::milliseconds time);

  // After its thread has ended.
  const std::optional<Error>& error() const { return error_; }
  int64_t decisions() const { return decisions_; }
  double reward() const { return reward_; }
  const std::vector<Duration>& decision_times() const { return decision_times_; }
  std::vector<Pause> pauses() const;
  Duration deciding() const { return deciding_; }
  // Since the run began.
  Duration time_of(int64_t tick) const { return parts_.clock.span(began_, tick); }

 private:
  void drain();
  void apply(const EngineEvent& event);
  void op_finished(OpEntry& entry);
  // A job comes. If it might not fit into memory together with those in the system it waits, and
  // with it those that come after it: jobs that have each a part of what they need would otherwise
  // wait for each other.
  void admit(const std::shared_ptr<JobRun>& run, Duration time);
  bool fits(const JobRun& run) const;
  void enter(const std::shared_ptr<JobRun>& run);
  void enter_waiting();
  void admit_due();
  // Ends a job that has failed as soon as nothing of it runs or moves.
  void give_up(JobRun& run);
  void end_if_over(JobRun& run);
  void end(JobRun& run);
  void fail_all(const Error& error);
  void one_job_less();

  // What there is to do now. A helper stops as soon as its queue has an op. False: all is over.
  bool step(const DeviceQueue* helper) TUTTI_THREAD_ATTRIBUTE(requires_capability(role_));
  void decide(const DeviceQueue* helper);
  Action ask_decider();
  void execute(const Action& action);
  bool take_back(JobRun& run, OpEntry& entry);
  // An op that was given to a device did not start.
  void give_back(JobRun& run, OpId op);
  void read_counters();
  void lengthen_queues();
  void enter_full();
  void leave_full(int64_t tick);
  int64_t full_so_far(int64_t tick) const;
  void note_wait(const JobRun& run, OpEntry& entry);
  void sleep();
  void look_for_standstill();
  bool stands_still() const;
  // When to look again at the latest, and at the next arrival.
  struct Until {
    std::chrono::milliseconds look{0};
    Duration arrival = kNever;
  };
  Until until_next();

  void pass_until(Duration time);
  const WorldState& state() const { return ledger_->state(); }
  JobStatus& status(const JobRun& run) { return ledger_->job(run.id); }

  Parts parts_;
  Mutex role_;  // held by the thread that does the scheduler's work; guards all but the atomics
  // Of one run, all that follows.
  std::optional<WorldLedger> ledger_;
  std::optional<OwnCounters> own_;
  std::vector<int> fed_by_;  // by counter: its place in the feed; -1: no source counts it
  std::vector<CounterReading> fed_;
  std::optional<ShareGate> gate_;
  Duration share_offset_{0};     // of share_clock() when the run began
  Duration ask_again_ = kNever;  // clients that are held by their quotas may go on then
  Decider* decider_ = nullptr;
  uint64_t seed_ = 0;
  bool endless_ = false;  // jobs are admitted as they come, and no arrivals were given
  std::vector<std::shared_ptr<JobRun>> arrivals_;
  size_t next_arrival_ = 0;
  Duration last_arrival_{0};
  ChunkTable<std::shared_ptr<JobRun>> runs_;     // by JobId; null: has ended
  std::deque<std::shared_ptr<JobRun>> waiting_;  // for memory, by arrival
  int64_t memory_ = 0;                           // the least limit
  int64_t promised_ = 0;                         // of it, to jobs in the system
  std::vector<EngineEvent> events_;
  std::vector<JobValues::Wanted> wanted_;
  int64_t began_ = 0;  // ticks
  int64_t spin_ = 0;   // ticks
  int64_t turn_ = 0;
  int32_t running_ = 0;
  bool decided_ = false;  // in this epoch
  bool asked_ = true;     // since something happened
  int quiet_looks_ = 0;
  bool enters_ = false;  // jobs that waited for memory are entering
  std::optional<int64_t> paused_;
  int64_t full_ = 0;  // ticks in which nothing could be placed, until `full_since_`
  std::optional<int64_t> full_since_;  // nothing can be placed now: no room, or nothing is ready
  std::optional<Error> error_;
  int64_t decisions_ = 0;
  double reward_ = 0;
  Duration deciding_{0};
  std::vector<Duration> decision_times_;
  std::vector<Pause> pauses_;  // times are ticks
  std::atomic<bool> stops_{false};
  std::atomic<bool> other_rules_{false};
  std::atomic<int64_t> jobs_left_{0};
  Mutex mutex_;
  std::condition_variable_any all_ended_;
  std::atomic<int64_t> ended_ops_{0};
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_LOCAL_JOBS_SCHEDULER_H_
