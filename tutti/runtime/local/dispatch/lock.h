// A lock for a few instructions: a thread that finds it taken spins a little and then sleeps in the
// kernel. clang's thread-safety analysis understands it, as it does base/mutex.h.

#ifndef TUTTI_RUNTIME_LOCAL_DISPATCH_LOCK_H_
#define TUTTI_RUNTIME_LOCAL_DISPATCH_LOCK_H_

#include <atomic>
#include <cstdint>

#include "tutti/base/mutex.h"

namespace tutti {

inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

class TUTTI_THREAD_ATTRIBUTE(capability("mutex")) SpinLock {
 public:
  void lock() TUTTI_THREAD_ATTRIBUTE(acquire_capability()) {
    uint32_t expected = kFree;
    if (state_.compare_exchange_strong(expected, kTaken, std::memory_order_acquire)) return;
    lock_slowly();
  }
  void unlock() TUTTI_THREAD_ATTRIBUTE(release_capability()) {
    if (state_.exchange(kFree, std::memory_order_release) == kAwaited) state_.notify_one();
  }

 private:
  static constexpr uint32_t kFree = 0;
  static constexpr uint32_t kTaken = 1;
  static constexpr uint32_t kAwaited = 2;  // taken, and a thread may sleep
  static constexpr int kSpins = 100;

  void lock_slowly() {
    for (int i = 0; i < kSpins; ++i) {
      uint32_t expected = kFree;
      if (state_.load(std::memory_order_relaxed) == kFree &&
          state_.compare_exchange_weak(expected, kTaken, std::memory_order_acquire)) {
        return;
      }
      relax();
    }
    while (state_.exchange(kAwaited, std::memory_order_acquire) != kFree) {
      state_.wait(kAwaited, std::memory_order_relaxed);
    }
  }

  std::atomic<uint32_t> state_{kFree};
};

// Holds a SpinLock for as long as it lives.
class TUTTI_THREAD_ATTRIBUTE(scoped_lockable) SpinHold {
 public:
  explicit SpinHold(SpinLock& lock) TUTTI_THREAD_ATTRIBUTE(acquire_capability(lock)) : lock_(lock) {
    lock_.lock();
  }
  ~SpinHold() TUTTI_THREAD_ATTRIBUTE(release_capability()) { lock_.unlock(); }
  SpinHold(const SpinHold&) = delete;
  SpinHold& operator=(const SpinHold&) = delete;

 private:
  SpinLock& lock_;
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_LOCAL_DISPATCH_LOCK_H_
