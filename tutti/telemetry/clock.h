// Time as counter sources see it: monotonic nanoseconds. Passed in, so that tests can set it.

#ifndef TUTTI_TELEMETRY_CLOCK_H_
#define TUTTI_TELEMETRY_CLOCK_H_

#include <chrono>
#include <functional>
#include <limits>

#include "tutti/base/time.h"

namespace tutti {

// The value of a counter that is not known: NaN.
inline constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

using Clock = std::function<Duration()>;

inline Duration steady_time() {
  return std::chrono::steady_clock::now().time_since_epoch();
}

// The growth of a total, per second since the last update.
class Rate {
 public:
  // NaN if no time has passed, or if it has shrunk (a counter that was reset).
  double update(double total, Duration now) {
    const double seconds = std::chrono::duration<double>(now - time_).count();
    const double grown = total - total_;
    total_ = total;
    time_ = now;
    return seconds > 0 && grown >= 0 ? grown / seconds : kUnknown;
  }

 private:
  double total_ = 0;
  Duration time_{0};
};

}  // namespace tutti

#endif  // TUTTI_TELEMETRY_CLOCK_H_
