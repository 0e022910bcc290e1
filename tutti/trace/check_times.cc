#include <algorithm>
#include <cmath>

#include "tutti/trace/check_rules.h"

namespace tutti::trace_rules {

TimeRange possible_times(const Case& trial, Duration mean, const Noise& noise) {
  if (!trial.drawn(noise)) return {mean, mean};
  // A draw is rounded to the nearest nanosecond; the factors themselves to a few digits less.
  const auto mean_ns = static_cast<double>(mean.count());
  const double least = mean_ns * noise.least_factor() * (1 - 1e-12) - 0.5;
  const double most = mean_ns * noise.most_factor() * (1 + 1e-12) + 0.5;
  const double longest = static_cast<double>(kNever.count()) / 2;
  return {Duration(static_cast<int64_t>(std::max(0.0, std::ceil(least)))),
          most > longest ? kNever : Duration(static_cast<int64_t>(most))};
}

}  // namespace tutti::trace_rules
