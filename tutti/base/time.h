// Time inside tutti is a whole number of nanoseconds: sums are exact and runs repeat.
//
// Points in time are Durations since the start of the run they belong to.

#ifndef TUTTI_BASE_TIME_H_
#define TUTTI_BASE_TIME_H_

#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

namespace tutti {

using Duration = std::chrono::nanoseconds;

// Larger than any time a run can reach, small enough that two of them can be added.
inline constexpr Duration kNever{std::numeric_limits<int64_t>::max() / 4};

// The longest time a file may state: about 146 years divided by 8, so that sums stay below kNever.
inline constexpr int64_t kLongestTimeNs = std::numeric_limits<int64_t>::max() / 64;

// Rounds to the nearest nanosecond; negative results and overflow are the caller's to prevent.
inline Duration nanoseconds_of(double ns) {
  return Duration(std::llround(ns));
}

// "1.234 ms": four significant digits and the unit a person would pick.
std::string to_text(Duration time);

// "4.0 GiB"; exact below one KiB.
std::string bytes_to_text(int64_t bytes);

}  // namespace tutti

#endif  // TUTTI_BASE_TIME_H_
