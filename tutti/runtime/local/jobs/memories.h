// The memories of the engine, which all jobs share: blocks, how much room is left, and which ops
// and transfers wait for room. Any thread may call.

#ifndef TUTTI_RUNTIME_LOCAL_JOBS_MEMORIES_H_
#define TUTTI_RUNTIME_LOCAL_JOBS_MEMORIES_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "tutti/runtime/local/dispatch/lock.h"
#include "tutti/runtime/local/jobs/op_entry.h"
#include "tutti/runtime/local/values/pool.h"

namespace tutti {

class Memories {
 public:
  // Called when something that waited for room can go on: an op asks again, a transfer has its
  // room.
  struct Waker {
    std::function<void(OpEntry& entry)> op;
    std::function<void(int32_t transfer)> transfer;
  };

  // Keeps a reference to the hardware.
  Memories(const Machine& machine, Hardware& hardware, Waker waker);

  Pool& pool(MemoryId memory) { return *pools_[static_cast<size_t>(memory.index)]; }
  const Pool& pool(MemoryId memory) const { return *pools_[static_cast<size_t>(memory.index)]; }
  int64_t left(MemoryId memory) const { return pools_[static_cast<size_t>(memory.index)]->left(); }
  // Limits by memory. Requires that nothing is held.
  void begin(const std::vector<int64_t>& limits);

  // False if there is no room: then it waits.
  bool take_room(OpEntry& entry);
  bool take_room(MemoryId memory, int64_t bytes, int32_t transfer);
  void give_room(MemoryId memory, int64_t bytes);

  // How many ops and transfers wait for room.
  struct Waiting {
    int64_t ops = 0;
    int64_t transfers = 0;
  };
  Waiting waiting() const;
  // The op that has waited longest for room; null if none waits.
  OpEntry* waiting_op() const;
  // The op or those transfers no longer wait. True if that op did; the transfers that did.
  bool forget(OpEntry& entry);
  std::vector<int32_t> forget_transfers(const std::function<bool(int32_t transfer)>& which);

 private:
  struct WaitingTransfer {
    int32_t transfer;
    int64_t bytes;
  };
  struct alignas(64) Room {
    mutable SpinLock lock;
    std::atomic<int32_t> waiting{0};
    std::vector<OpEntry*> ops GUARDED_BY(lock);
    std::vector<WaitingTransfer> transfers GUARDED_BY(lock);
  };

  // Takes the room or, with the same lock, adds to those that wait.
  template <class Add>
  bool take_or_wait(MemoryId memory, int64_t bytes, Add add);
  void retry(MemoryId memory);

  Waker waker_;
  std::vector<std::unique_ptr<Pool>> pools_;
  std::unique_ptr<Room[]> rooms_;
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_LOCAL_JOBS_MEMORIES_H_
