// The values of one job: their copies in memories and what still uses them. A copy is held until
// all readers of its value have started, and by each op that reads it and each transfer that leaves
// from it; then its block is given back.
//
// The scheduler places ops and takes them back, slots start and finish them, the threads of lanes
// report arrivals; each function says which thread calls it.

#ifndef TUTTI_RUNTIME_LOCAL_JOBS_JOB_VALUES_H_
#define TUTTI_RUNTIME_LOCAL_JOBS_JOB_VALUES_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "tutti/kernels/block.h"
#include "tutti/runtime/local/dispatch/lock.h"
#include "tutti/runtime/local/jobs/job_inputs.h"
#include "tutti/runtime/local/jobs/op_entry.h"
#include "tutti/trace/trace.h"

namespace tutti {

class JobValues {
 public:
  // `inputs` may be null: values are files, and nothing is kept here.
  JobValues(const Job& job, Memories& memories, std::shared_ptr<JobInputs> inputs,
            const std::vector<ValueId>& keep);
  ~JobValues() { release(/*but_results=*/false); }

  // A transfer that an op needs.
  struct Wanted {
    ValueId value{};
    MemoryId from{};
    MemoryId to{};
  };

  // By the scheduler. The op was given to a device: appends the transfers that must be requested.
  // The entry counts the operands that are missing; true if none is, and then the caller queues it.
  // Fails if an input does not fit.
  Result<bool> place(OpEntry& entry, std::vector<Wanted>& wanted);
  // False if it has all operands: it is in a queue, or a slot has taken it.
  bool take_back_fetching(OpEntry& entry);
  // The op was taken back.
  void let_go(const OpEntry& entry);

  // By the slot that runs the op. make_outputs is false if a memory has no block.
  bool make_outputs(const OpEntry& entry);
  void gather(const OpEntry& entry, std::vector<ConstBlock>& operands,
              std::vector<Block>& outputs) const;
  void started(const OpEntry& entry);
  void finished(const OpEntry& entry);

  // By transfers: set_address once the destination has a block, arrived once the copy is there,
  // which appends the ops that now have all their operands.
  void* address(ValueId value, MemoryId memory) const { return copies_[at(value, memory)].address; }
  void set_address(ValueId value, MemoryId memory, void* address) {
    copies_[at(value, memory)].address = address;
  }
  void arrived(ValueId value, MemoryId from, MemoryId to, std::vector<OpEntry*>& complete);
  // The copy that was requested will not come: there was no room for it.
  void without_room(ValueId value, MemoryId memory) { copies_[at(value, memory)].counted = false; }
  void add_span(const TransferSpan& span) {
    const SpinHold hold(lock_);
    spans_.push_back(span);
  }

  // When nothing of the job runs or moves any more. Times of spans are ticks.
  std::vector<TransferSpan> take_spans() {
    const SpinHold hold(lock_);
    return std::move(spans_);
  }
  void release(bool but_results);
  Result<std::vector<std::byte>> result(ValueId value) const;

 private:
  struct Copy {
    enum class State : uint8_t { absent, on_its_way, present };
    void* address = nullptr;
    std::atomic<int32_t> uses{0};
    State state = State::absent;
    bool held = false;     // counts as a use
    bool counted = false;  // takes room in its memory
    bool lent = false;     // the block is of the inputs
  };
  struct Waiter {
    OpEntry* entry;
    int32_t given;
    int32_t copy;
  };

  int32_t at(ValueId value, MemoryId memory) const {
    return value.index * memory_count_ + memory.index;
  }
  ValueId value_of(int32_t copy) const { return ValueId{copy / memory_count_}; }
  MemoryId memory_of(int32_t copy) const { return MemoryId{copy % memory_count_}; }
  bool is_input(ValueId value) const { return !graph_.producer(value).valid(); }
  // The input's block in that memory.
  Result<void> lend(ValueId value, MemoryId memory);
  void drop(int32_t copy);

  const Job& job_;
  const Graph& graph_;
  Memories& memories_;
  std::shared_ptr<JobInputs> inputs_;
  int32_t memory_count_;
  std::unique_ptr<Copy[]> copies_;  // by value and memory
  int32_t copy_count_ = 0;
  std::vector<int64_t> bytes_;  // by value; the graph may be gone before this object
  std::vector<MemoryId> home_;  // by value: where it is made, or at home
  std::unique_ptr<std::atomic<int32_t>[]> unstarted_;  // by value: readers
  std::vector<uint8_t> stays_;                         // by value: until the job ends
  std::vector<uint8_t> kept_;                          // by value: a result
  SpinLock lock_;
  std::vector<Waiter> waiters_ GUARDED_BY(lock_);
  std::vector<TransferSpan> spans_ GUARDED_BY(lock_);
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_LOCAL_JOBS_JOB_VALUES_H_
