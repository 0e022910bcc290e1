// One job in the engine: its values, its ops on their way, what has happened to it, and what to
// call when it has ended.

#ifndef TUTTI_RUNTIME_LOCAL_JOBS_JOB_RUN_H_
#define TUTTI_RUNTIME_LOCAL_JOBS_JOB_RUN_H_

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "tutti/plan/world/client_shares.h"
#include "tutti/plan/world/world_state.h"
#include "tutti/runtime/local/jobs/job_values.h"
#include "tutti/runtime/local/jobs/op_entry.h"
#include "tutti/runtime/local/op_codes.h"
#include "tutti/trace/job_record.h"

namespace tutti {

class JobRun {
 public:
  // The job is over. Called by the scheduler: soon done, and no call of the engine's but admit and
  // withdraw. The job has failed, or was withdrawn, if there is an error.
  using Ended = std::function<void(const JobRun& run)>;

  JobRun(std::shared_ptr<const Job> job, const OpTable& ops, Memories& memories,
         std::shared_ptr<JobInputs> inputs, const std::vector<ValueId>& keep, Ended ended);

  const std::shared_ptr<const Job>& job() const { return job_; }
  // Once it has ended.
  const JobRecord& record() const { return record_; }
  std::optional<Error> error() const {
    const SpinHold hold(lock_);
    return error_;
  }
  Result<std::vector<std::byte>> result(ValueId value) const { return values.result(value); }

  // Any thread: the job shall end. The first error stands.
  void fail(Error error) {
    const SpinHold hold(lock_);
    if (!error_) error_ = std::move(error);
    failed_.store(true);
  }
  bool failed() const { return failed_.load(std::memory_order_relaxed); }

  // The rest is the engine's.
  JobValues values;
  std::unique_ptr<OpEntry[]> entries;  // by op
  OpCodes codes;
  int64_t most_bytes = 0;  // that it can take in a memory, whatever is decided
  // The scheduler's alone.
  JobId id{};
  Duration due{0};                 // admit it then
  std::function<void()> before{};  // called first when it is admitted
  int32_t given = 0;               // ops that were given to devices and have not ended
  int32_t moving = 0;              // transfers
  bool admitted = false;
  std::shared_ptr<JobAccount> account{};  // with JobEngineOptions::shares; null: it is not counted
  std::atomic<bool> waits_for_memory{false};  // any thread may read it
  int64_t entered = 0;                        // ticks
  int64_t room_at_entry = 0;                  // as OpEntry::room_at_finish
  JobRecord record_{};

 private:
  friend class Scheduler;
  std::shared_ptr<const Job> job_;
  Ended ended_;
  std::atomic<bool> failed_{false};
  mutable SpinLock lock_;
  std::optional<Error> error_ GUARDED_BY(lock_);
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_LOCAL_JOBS_JOB_RUN_H_
