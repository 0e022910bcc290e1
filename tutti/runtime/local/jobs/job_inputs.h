// The graph inputs of a job, filled, each in its home memory or, if it is everywhere, in the
// memories where it was put so far. All arrivals of one job can share them.

#ifndef TUTTI_RUNTIME_LOCAL_JOBS_JOB_INPUTS_H_
#define TUTTI_RUNTIME_LOCAL_JOBS_JOB_INPUTS_H_

#include <functional>
#include <memory>
#include <vector>

#include "tutti/kernels/block.h"
#include "tutti/plan/world/cluster.h"
#include "tutti/runtime/local/jobs/memories.h"

namespace tutti {

// Fills a graph input in ordinary memory that holds zeros.
using FillInput = std::function<void(ValueId value, const Block& block)>;

class JobInputs {
 public:
  // Fails (infeasible) if a memory cannot provide a block. `everywhere`: inputs that are everywhere
  // are put into the memory of every device now, and not when an op there first needs them.
  static Result<std::shared_ptr<JobInputs>> make(std::shared_ptr<const Job> job, Memories& memories,
                                                 const FillInput& fill, bool everywhere);
  ~JobInputs();
  JobInputs(const JobInputs&) = delete;
  JobInputs& operator=(const JobInputs&) = delete;

  // Null if it is not there.
  void* find(ValueId value, MemoryId memory) const {
    return blocks_[static_cast<size_t>(value.index) * memories_count_ +
                   static_cast<size_t>(memory.index)];
  }
  // Puts an input that is everywhere into that memory. For one thread at a time.
  Result<void*> bring(ValueId value, MemoryId memory);

 private:
  JobInputs(std::shared_ptr<const Job> job, Memories& memories);
  Result<void*> allocate(ValueId value, MemoryId memory);
  Result<void> fill(ValueId value, MemoryId memory, const FillInput& fill);

  std::shared_ptr<const Job> job_;
  Memories& memories_;
  size_t memories_count_;
  std::vector<void*> blocks_;   // by value and memory
  std::vector<int64_t> bytes_;  // by value; the graph may be gone before this object
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_LOCAL_JOBS_JOB_INPUTS_H_
