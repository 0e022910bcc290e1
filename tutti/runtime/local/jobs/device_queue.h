// The ops that a device could run now: they have their operands. The scheduler and the threads that
// move values add to it; the device's slots take the op of least turn. The lock is held for a few
// instructions, never while anything is decided.

#ifndef TUTTI_RUNTIME_LOCAL_JOBS_DEVICE_QUEUE_H_
#define TUTTI_RUNTIME_LOCAL_JOBS_DEVICE_QUEUE_H_

#include <atomic>
#include <cstdint>
#include <vector>

#include "tutti/runtime/local/dispatch/lock.h"
#include "tutti/runtime/local/dispatch/ticks.h"
#include "tutti/runtime/local/jobs/op_entry.h"

namespace tutti {

class DeviceQueue {
 public:
  explicit DeviceQueue(const TickClock& clock) : clock_(clock) {}

  void push(OpEntry& entry);
  // False if a slot has taken it, or if it is not here.
  bool remove(OpEntry& entry);
  // Null if there is none.
  OpEntry* take();
  // Waits for one, spinning at first for so many ticks. Null after close().
  OpEntry* wait(int64_t spin, int slot);
  void close();
  void open() { closed_.store(false); }
  int32_t size() const { return size_.load(std::memory_order_relaxed); }
  // A slot has found it empty since the last call. For the scheduler, which lengthens queues.
  bool was_empty() { return was_empty_.exchange(false, std::memory_order_relaxed); }

  // Between which ticks a slot looked, saw nothing and went to sleep; noted from now on if `noted`.
  struct Sleep {
    int slot;
    int64_t look_from;
    int64_t look_to;
  };
  void note_sleeps(bool noted);
  std::vector<Sleep> sleeps() const;

 private:
  void note_sleep(const Sleep& sleep);

  const TickClock& clock_;
  mutable SpinLock lock_;
  std::vector<OpEntry*> heap_ GUARDED_BY(lock_);  // the least turn on top
  std::atomic<int32_t> size_{0};
  std::atomic<int32_t> sleepers_{0};
  std::atomic<uint32_t> rung_{0};
  std::atomic<bool> closed_{false};
  std::atomic<bool> was_empty_{false};
  bool noted_ GUARDED_BY(lock_) = false;
  std::vector<Sleep> sleeps_ GUARDED_BY(lock_);
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_LOCAL_JOBS_DEVICE_QUEUE_H_
