#include "tutti/trace/check/free_times.h"

#include <algorithm>
#include <utility>

namespace tutti {
namespace {

Interval clip(Interval interval, Interval window) {
  return {std::max(interval.start, window.start), std::min(interval.finish, window.finish)};
}

LeastOf least_in_each(const std::vector<Interval>& free, const LeastUse* memory) {
  std::vector<int64_t> least;
  if (memory != nullptr) {
    for (const Interval& interval : free) least.push_back(memory->during(interval));
  }
  return LeastOf(least);
}

}  // namespace

FreeTimes::FreeTimes(std::vector<Interval> free, const LeastUse* memory)
    : free_(std::move(free)), memory_(memory), least_(least_in_each(free_, memory)) {}

std::optional<Duration> FreeTimes::first_in(Interval window, int64_t most_bytes) const {
  if (window.start >= window.finish) return std::nullopt;
  const auto first = std::upper_bound(
      free_.begin(), free_.end(), window.start,
      [](Duration time, const Interval& interval) { return time < interval.finish; });
  const auto end = std::lower_bound(
      first, free_.end(), window.finish,
      [](const Interval& interval, Duration time) { return interval.start < time; });
  if (first == end) return std::nullopt;
  if (memory_ == nullptr) return clip(*first, window).start;
  // The first and the last may stick out of the window; those between lie inside.
  const auto begin = static_cast<size_t>(first - free_.begin());
  const auto inside_end = static_cast<size_t>(end - free_.begin()) - 1;
  const int64_t least =
      std::min({memory_->during(clip(*first, window)), memory_->during(clip(*(end - 1), window)),
                least_.over(begin + 1, inside_end)});
  if (least > most_bytes) return std::nullopt;
  for (auto it = first; it != end; ++it) {
    const std::optional<Duration> time = memory_->first_at_most(clip(*it, window), most_bytes);
    if (time) return time;
  }
  return std::nullopt;
}

}  // namespace tutti
