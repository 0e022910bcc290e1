// The ops that wait for a slot, by rank: the one of least rank goes first. Every slot has a queue
// of its own, which it fills with what it makes ready; others give to it and take from it. `head`
// may be read without the lock.

#ifndef TUTTI_RUNTIME_LOCAL_DISPATCH_READY_QUEUE_H_
#define TUTTI_RUNTIME_LOCAL_DISPATCH_READY_QUEUE_H_

#include <atomic>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "tutti/runtime/local/dispatch/lock.h"

namespace tutti {

inline constexpr int32_t kNoRank = std::numeric_limits<int32_t>::max();

// A heap of four children per parent, the least on top.
class RankHeap {
 public:
  void clear() { ranks_.clear(); }
  bool empty() const { return ranks_.empty(); }
  int32_t least() const { return ranks_.empty() ? kNoRank : ranks_.front(); }

  void push(int32_t rank) {
    size_t hole = ranks_.size();
    ranks_.push_back(rank);
    while (hole > 0) {
      const size_t parent = (hole - 1) / 4;
      if (ranks_[parent] < rank) break;
      ranks_[hole] = ranks_[parent];
      hole = parent;
    }
    ranks_[hole] = rank;
  }

  // Requires !empty().
  int32_t pop() {
    const int32_t first = ranks_.front();
    const int32_t last = ranks_.back();
    ranks_.pop_back();
    if (!ranks_.empty()) sink(last);
    return first;
  }

  // As push and then pop, for less.
  int32_t exchange(int32_t rank) {
    if (ranks_.empty() || rank < ranks_.front()) return rank;
    const int32_t first = ranks_.front();
    sink(rank);
    return first;
  }

 private:
  // Puts the rank where it belongs, from the top down; what is on top goes.
  void sink(int32_t rank) {
    const size_t size = ranks_.size();
    int32_t* const ranks = ranks_.data();
    size_t hole = 0;
    for (;;) {
      const size_t begin = 4 * hole + 1;
      if (begin >= size) break;
      const size_t end = begin + 4 < size ? begin + 4 : size;
      size_t least = begin;
      for (size_t child = begin + 1; child < end; ++child) {
        if (ranks[child] < ranks[least]) least = child;
      }
      if (rank < ranks[least]) break;
      ranks[hole] = ranks[least];
      hole = least;
    }
    ranks[hole] = rank;
  }

  std::vector<int32_t> ranks_;
};

class alignas(64) ReadyQueue {
 public:
  void clear() {
    const SpinHold hold(lock_);
    heap_.clear();
    publish();
  }

  int32_t head() const { return head_.load(std::memory_order_relaxed); }

  // Adds these and takes the first of all; kNoRank if there is none. Under the lock `stamp` is
  // called before anything is taken, and `added` once all can see what was added.
  template <class Stamp, class Added>
  int32_t exchange(std::span<const int32_t> fresh, Stamp stamp, Added added) {
    const SpinHold hold(lock_);
    stamp();
    if (fresh.empty()) {
      if (heap_.empty()) return kNoRank;
      const int32_t first = heap_.pop();
      publish();
      return first;
    }
    int32_t best = fresh[0];
    for (size_t i = 1; i < fresh.size(); ++i) {
      const int32_t rank = fresh[i];
      heap_.push(rank < best ? best : rank);
      if (rank < best) best = rank;
    }
    best = heap_.exchange(best);
    publish();
    added();
    return best;
  }

  // Adds one. `stamp` is called under the lock, once all can see it.
  template <class Stamp>
  void give(int32_t rank, Stamp stamp) {
    const SpinHold hold(lock_);
    heap_.push(rank);
    publish();
    stamp();
  }

 private:
  void publish() TUTTI_THREAD_ATTRIBUTE(requires_capability(lock_)) {
    const int32_t least = heap_.least();
    if (least != head_.load(std::memory_order_relaxed)) {
      head_.store(least, std::memory_order_relaxed);
    }
  }

  SpinLock lock_;
  std::atomic<int32_t> head_{kNoRank};
  RankHeap heap_ GUARDED_BY(lock_);
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_LOCAL_DISPATCH_READY_QUEUE_H_
