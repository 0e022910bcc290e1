// Intervals of time, half open, and the few questions that judges ask of many of them. A list of
// intervals is "apart" when they ascend and neither overlap nor touch.

#ifndef TUTTI_PLAN_INTERVALS_H_
#define TUTTI_PLAN_INTERVALS_H_

#include <span>
#include <vector>

#include "tutti/base/time.h"

namespace tutti {

struct Interval {
  Duration start{0};
  Duration finish{0};
  friend bool operator==(const Interval&, const Interval&) = default;
};

// The longest intervals during which at least `level` (1 or more) of the given ones run, apart.
// Intervals of no length run at no time. The time it takes is that of sorting them.
std::vector<Interval> busy_intervals(std::span<const Interval> intervals, int level);

// The time that either of two lists takes, both apart; apart too, in linear time.
std::vector<Interval> unite(std::span<const Interval> a, std::span<const Interval> b);

// What intervals that are apart leave free between 0 and kNever, apart.
std::vector<Interval> gaps_between(std::span<const Interval> apart);

// The sum of their lengths.
Duration total_length(std::span<const Interval> intervals);

// A lane for each interval, from 0, as few as can be, so that no two on a lane overlap.
std::vector<int> assign_lanes(std::span<const Interval> intervals);

}  // namespace tutti

#endif  // TUTTI_PLAN_INTERVALS_H_
