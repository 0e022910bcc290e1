// A Stop says when work has to end: at a point in time, or as soon as a flag is raised (a spent
// budget, Ctrl-C). Budgets are handed down with it: each part of the work gets a Stop, and every
// loop that can take long calls now() once in a while and returns what it has. A Stop measures
// nothing and interrupts nothing.
//
// A plain value; any number of threads may ask.

#ifndef TUTTI_BASE_STOP_H_
#define TUTTI_BASE_STOP_H_

#include <algorithm>
#include <atomic>
#include <chrono>

namespace tutti {

class Stop {
 public:
  using Clock = std::chrono::steady_clock;

  // Never.
  Stop() = default;
  // When the flag is raised. It must outlive the Stop.
  explicit Stop(const std::atomic<bool>* flag) : flag_(flag) {}

  // This one, or at that time if it comes first.
  Stop by(Clock::time_point time) const {
    Stop earlier = *this;
    earlier.time_ = std::min(time_, time);
    return earlier;
  }
  // The flag alone, at whatever time.
  Stop without_time() const { return Stop(flag_); }

  // True as soon as the work has to end.
  bool now() const { return raised() || (timed() && Clock::now() >= time_); }
  bool raised() const { return flag_ != nullptr && flag_->load(std::memory_order_relaxed); }
  // True if the work has to end within that time, as far as is known now.
  bool comes_within(Clock::duration time) const {
    return raised() || (timed() && Clock::now() + time >= time_);
  }
  bool timed() const { return time_ != Clock::time_point::max(); }

 private:
  const std::atomic<bool>* flag_ = nullptr;
  Clock::time_point time_ = Clock::time_point::max();
};

}  // namespace tutti

#endif  // TUTTI_BASE_STOP_H_
