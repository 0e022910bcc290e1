// The clock of a real run, cheap enough to be read three times for each op: the processor's own
// counter where the kernel trusts it for its clock, the steady clock elsewhere.

#ifndef TUTTI_RUNTIME_LOCAL_DISPATCH_TICKS_H_
#define TUTTI_RUNTIME_LOCAL_DISPATCH_TICKS_H_

#include <chrono>
#include <cstdint>

#include "tutti/base/time.h"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace tutti {

class TickClock {
 public:
  TickClock();

  // Any thread's later call gives no less.
  int64_t now() const {
#if defined(__x86_64__)
    if (counter_) {
      _mm_lfence();  // not before what has been read so far
      return static_cast<int64_t>(__rdtsc());
    }
#endif
    return steady_now();
  }

  // The same, perhaps from before what was read last.
  int64_t about_now() const {
#if defined(__x86_64__)
    if (counter_) return static_cast<int64_t>(__rdtsc());
#endif
    return steady_now();
  }

  // Measures how long a tick is, the better the older the clock. Call it after a run, from the
  // thread that then asks for spans.
  void calibrate();
  // Between two readings. Never later for less ticks.
  Duration span(int64_t from, int64_t to) const {
    return Duration(static_cast<int64_t>(static_cast<double>(to - from) * ns_per_tick_));
  }
  // As many ticks as that, about.
  int64_t ticks_of(Duration time) const {
    return static_cast<int64_t>(static_cast<double>(time.count()) / ns_per_tick_);
  }

 private:
  static int64_t steady_now() {
    return std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }

  bool counter_ = false;
  int64_t first_ns_ = 0;
  int64_t first_tick_ = 0;
  double ns_per_tick_ = 1;
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_LOCAL_DISPATCH_TICKS_H_
