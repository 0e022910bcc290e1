// Moves values of jobs from memory to memory, hop by hop, by the threads of Lanes.

#ifndef TUTTI_RUNTIME_LOCAL_JOBS_TRANSFERS_H_
#define TUTTI_RUNTIME_LOCAL_JOBS_TRANSFERS_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "tutti/runtime/local/dispatch/crew.h"
#include "tutti/runtime/local/dispatch/ticks.h"
#include "tutti/runtime/local/jobs/job_run.h"
#include "tutti/runtime/local/jobs/options.h"
#include "tutti/runtime/local/values/lanes.h"

namespace tutti {

class Transfers {
 public:
  // `queue` is called for each op that has all its operands now, `ended` when a transfer is over,
  // well or not (then the job has failed). Both on the thread of a lane. Keeps references.
  struct Listener {
    std::function<void(OpEntry& entry)> queue;
    std::function<void(JobRun& job, ValueId value, MemoryId to)> ended;
  };
  Transfers(const Machine& machine, Hardware& hardware, Memories& memories, const TickClock& clock,
            const JobEngineOptions& options, Listener listener);

  // Fails (infeasible) if nothing connects the two. Not by the thread of a slot, which is bound to
  // cores that the thread of a new lane would keep to.
  Result<void> request(JobRun& job, const JobValues::Wanted& wanted);
  // It has its room.
  void start(int32_t transfer);
  // Transfers of the job that wait for room end. A job that has such transfers, or null.
  void give_up(JobRun& job);
  JobRun* waiting_job();

 private:
  struct Transfer {
    JobRun* job = nullptr;
    JobValues::Wanted what{};
    int hop = 0;
    bool direct = false;      // one hop, whatever the route
    void* staging = nullptr;  // where it is after the hops so far; null: at its source
    MemoryId at{};
  };

  Result<bool> check_way(MemoryId from, MemoryId to);  // whether it goes directly
  MemoryId next_stop(const Transfer& transfer) const;
  void move(Copier& copier, int32_t index);
  Result<void> hop(Copier& copier, Transfer& transfer, MemoryId stop);
  void end(int32_t index, Transfer& transfer);
  Transfer& get(int32_t index);

  const Machine& machine_;
  Memories& memories_;
  const TickClock& clock_;
  const JobEngineOptions& options_;
  Listener listener_;
  SpinLock lock_;
  std::deque<Transfer> all_ GUARDED_BY(lock_);  // does not move what it holds
  std::vector<int32_t> free_ GUARDED_BY(lock_);
  Crew crew_;    // never over: lanes work as long as the engine stands
  Lanes lanes_;  // last: its threads use the others
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_LOCAL_JOBS_TRANSFERS_H_
