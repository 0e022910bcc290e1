// The engine of jobs: runs jobs that come and go on this host's cores and GPUs, as a Decider says.
//
//   JobEngine engine(cluster, ops, hardware, options);
//   engine.begin(decider, seed);
//   auto inputs = engine.prepare(job, fill);             // any thread
//   engine.admit(*engine.make_run(job, *inputs, ended));  // any thread, at any time
//   engine.wait();
//
// One scheduler thread decides (scheduler.h). The slots' threads take ops from the queue of their
// device, so that a device goes on while the next decisions are made; operands of queued ops are
// fetched meanwhile. A failing op ends its job, not the others. Plans are followed by LocalRuntime,
// where no decisions are left.

#ifndef TUTTI_RUNTIME_LOCAL_JOBS_ENGINE_H_
#define TUTTI_RUNTIME_LOCAL_JOBS_ENGINE_H_

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "tutti/plan/world/decider.h"
#include "tutti/runtime/local/hardware.h"
#include "tutti/runtime/local/jobs/job_run.h"
#include "tutti/runtime/local/jobs/options.h"
#include "tutti/runtime/local/jobs/scheduler.h"

namespace tutti {

class JobEngine {
 public:
  // Keeps references. The machine must have no contexts to configure. Runs and inputs hold memory
  // of the engine and must be gone before it.
  JobEngine(const Cluster& cluster, const OpTable& ops, Hardware& hardware,
            JobEngineOptions options);
  // Gives up what is left.
  ~JobEngine();
  JobEngine(const JobEngine&) = delete;
  JobEngine& operator=(const JobEngine&) = delete;

  // Between runs. Limits by memory, of a problem; the machine's are those until then.
  void set_options(JobEngineOptions options, const Problem* limits = nullptr);
  // Fills the inputs of a job; see JobInputs.
  Result<std::shared_ptr<JobInputs>> prepare(const std::shared_ptr<const Job>& job,
                                             const FillInput& fill, bool everywhere = true);
  // Fails (invalid_input) if an op has no code on a device that it may run on.
  Result<std::shared_ptr<JobRun>> make_run(const std::shared_ptr<const Job>& job,
                                           std::shared_ptr<JobInputs> inputs, JobRun::Ended ended,
                                           const std::vector<ValueId>& keep = {});

  // A run begins: the clock stands at 0. Each of `arrivals` comes at its `due`, by rising time;
  // more can be admitted. Requires that none is under way.
  void begin(Decider& decider, uint64_t seed, std::vector<std::shared_ptr<JobRun>> arrivals = {});
  // During a run. An admitted job is always told its end. `helps`: the calling thread, which is
  // awake, does the scheduler's work for this once, unless that is being done; not from callbacks.
  void admit(std::shared_ptr<JobRun> run, bool helps = false);
  void withdraw(const std::shared_ptr<JobRun>& run, Error why);
  // What keeps ops from being given to devices has changed: the decider is asked again.
  void ask_again() { scheduler_.ask_again(); }
  // Waits until all jobs have ended, and calls `look` now and then. If it returns true, what is
  // left is given up. Then the run has ended; the error is the one that ended all jobs, if any.
  std::optional<Error> wait(const std::function<bool()>& look = {});

  // Of the run under way or the last one.
  const Scheduler& scheduler() const { return scheduler_; }
  const Memories& memories() const { return memories_; }
  const DeviceQueue& queue(DeviceId device) const {
    return *queues_[static_cast<size_t>(device.index)];
  }

 private:
  struct Slot {
    DeviceId device{};
    int index = 0;
    std::unique_ptr<SlotRunner> runner;
    bool entered = false;
    std::vector<ConstBlock> operands;
    std::vector<Block> outputs;
    std::thread thread;
  };

  void set_limits(const Problem* problem);
  void work(Slot& me);
  // Returns the next op of the slot, if there is one.
  OpEntry* run(Slot& me, OpEntry& entry);
  Result<void> call(Slot& me, OpEntry& entry);
  Result<void> enter(Slot& me);
  void send(EngineEvent::Kind kind, OpEntry& entry, int64_t tick, bool urgent);

  const Cluster& cluster_;
  const OpTable& ops_;
  JobEngineOptions options_;
  TickClock clock_;
  Mailbox mailbox_;
  std::vector<std::unique_ptr<DeviceQueue>> queues_;  // by device
  Memories memories_;
  Transfers transfers_;
  Scheduler scheduler_;
  std::thread scheduling_;
  int64_t spin_ = 0;  // ticks; 0: no core is to spare, and idle slots help the scheduler
  std::atomic<int32_t> idle_{0};  // slots
  std::vector<std::unique_ptr<Slot>> slots_;
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_LOCAL_JOBS_ENGINE_H_
