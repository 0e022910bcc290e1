// One memory during a run: how much of it values take, and where they are. Blocks that are given
// back stay with the pool, for the next value of that size, in this run or a later one, unless they
// become more than twice what was ever in use: a server sees values of changing sizes.
//
// Room is taken before a block is asked for: the books are kept in the bytes of the graph, as the
// simulator does, and a run that the books admit asks the store.
//
// A value that passes through a memory on its way to another has a block there for as long as two
// hops take, one for each value on the way. Such blocks are in no books: not in the limit, which
// would make transfers wait for each other in circles, nor in the high-water mark. The store gives
// them, and a store that has no room for one ends the run.

#ifndef TUTTI_RUNTIME_LOCAL_VALUES_POOL_H_
#define TUTTI_RUNTIME_LOCAL_VALUES_POOL_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <vector>

#include "tutti/machine/machine.h"
#include "tutti/runtime/local/dispatch/lock.h"
#include "tutti/runtime/local/hardware.h"

namespace tutti {

class Pool {
 public:
  // Keeps a reference to the store.
  explicit Pool(Store& store) : store_(store) {}
  ~Pool() { trim(); }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  // A run begins, with nothing taken. Gives back to the store the blocks that the last run had no
  // use for.
  void begin(int64_t limit);

  Store& store() const { return store_; }

  // False if the limit leaves too little.
  bool take_room(int64_t bytes);
  // Whether it fits or not: see left().
  void take_room_anyway(int64_t bytes);
  void give_room(int64_t bytes) { used_.fetch_sub(bytes); }
  int64_t left() const {
    return limit_ == kUnlimitedBytes ? kUnlimitedBytes : limit_ - used_.load();
  }
  int64_t limit() const { return limit_; }
  int64_t high_water() const { return high_water_.load(); }

  // Null if the store has no room even without the blocks that are kept. Requires bytes > 0.
  void* allocate(int64_t bytes);
  void release(void* address, int64_t bytes);
  // Gives all kept blocks back to the store.
  void trim();

 private:
  static constexpr int64_t kLeastKept = int64_t{64} << 20;  // bytes
  void note_use(int64_t used);
  void release_kept() TUTTI_THREAD_ATTRIBUTE(requires_capability(lock_));

  struct Kept {
    std::vector<void*> blocks;
    bool used = false;  // in this run
  };

  Store& store_;
  int64_t limit_ = kUnlimitedBytes;
  alignas(64) std::atomic<int64_t> used_{0};
  std::atomic<int64_t> high_water_{0};
  SpinLock lock_;
  std::map<int64_t, Kept> kept_ GUARDED_BY(lock_);  // by bytes
  int64_t kept_bytes_ GUARDED_BY(lock_) = 0;
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_LOCAL_VALUES_POOL_H_
