// The ops that wait for a slot, by rank: the one of least rank goes first. Every slot has a queue
// of its own, which it fills with what it makes ready; others give to it and take from it. `head`
// may be read without the lock.

#ifndef TUTTI_RUNTIME_LOCAL_DISPATCH_READY_QUEUE_H_
#define TUTTI_RUNTIME_LOCAL_DISPATCH_READY_QUEUE_H_

#include <atomic>
#include <cstdint>
#include <span>

#include "tutti/runtime/local/dispatch/lock.h"
#include "tutti/runtime/local/dispatch/rank_set.h"

namespace tutti {

class alignas(64) ReadyQueue {
 public:
  // Nothing waits; ranks will be below that, and none is added that waits already.
  void begin(int32_t ranks) {
    const SpinHold hold(lock_);
    ranks_.reset(ranks);
    publish();
  }

  int32_t head() const { return head_.load(std::memory_order_relaxed); }

  // Adds these and takes the first of all; kNoRank if there is none. Under the lock `stamp` is
  // called before anything is taken, and `added` once all can see what was added.
  template <class Stamp, class Added>
  int32_t exchange(std::span<const int32_t> fresh, Stamp stamp, Added added) {
    const SpinHold hold(lock_);
    stamp();
    for (const int32_t rank : fresh) ranks_.insert(rank);
    if (ranks_.empty()) return kNoRank;
    const int32_t first = ranks_.pop();
    publish();
    if (!fresh.empty()) added();
    return first;
  }

  // Adds one. `stamp` is called under the lock, once all can see it.
  template <class Stamp>
  void give(int32_t rank, Stamp stamp) {
    const SpinHold hold(lock_);
    ranks_.insert(rank);
    publish();
    stamp();
  }

 private:
  void publish() TUTTI_THREAD_ATTRIBUTE(requires_capability(lock_)) {
    const int32_t least = ranks_.least();
    if (least != head_.load(std::memory_order_relaxed)) {
      head_.store(least, std::memory_order_relaxed);
    }
  }

  SpinLock lock_;
  std::atomic<int32_t> head_{kNoRank};
  RankSet ranks_ GUARDED_BY(lock_);
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_LOCAL_DISPATCH_READY_QUEUE_H_
