#include "tutti/plan/intervals.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>

namespace tutti {

std::vector<Interval> busy_intervals(std::span<const Interval> intervals, int level) {
  std::vector<Duration> starts;
  std::vector<Duration> finishes;
  starts.reserve(intervals.size());
  finishes.reserve(intervals.size());
  for (const Interval& interval : intervals) {
    if (interval.start >= interval.finish) continue;
    starts.push_back(interval.start);
    finishes.push_back(interval.finish);
  }
  std::sort(starts.begin(), starts.end());
  std::sort(finishes.begin(), finishes.end());

  std::vector<Interval> busy;
  int running = 0;
  size_t started = 0;
  size_t finished = 0;
  while (finished < finishes.size()) {
    // All that happens at one instant counts at once.
    const Duration now = started < starts.size() ? std::min(starts[started], finishes[finished])
                                                 : finishes[finished];
    const bool was_busy = running >= level;
    for (; finished < finishes.size() && finishes[finished] == now; ++finished) --running;
    for (; started < starts.size() && starts[started] == now; ++started) ++running;
    const bool is_busy = running >= level;
    if (is_busy && !was_busy) busy.push_back({now, now});
    if (was_busy && !is_busy) busy.back().finish = now;
  }
  return busy;
}

std::vector<Interval> unite(std::span<const Interval> a, std::span<const Interval> b) {
  std::vector<Interval> united;
  united.reserve(a.size() + b.size());
  while (!a.empty() || !b.empty()) {
    std::span<const Interval>& first =
        b.empty() || (!a.empty() && a.front().start <= b.front().start) ? a : b;
    const Interval next = first.front();
    first = first.subspan(1);
    if (!united.empty() && next.start <= united.back().finish) {
      united.back().finish = std::max(united.back().finish, next.finish);
    } else {
      united.push_back(next);
    }
  }
  return united;
}

std::vector<Interval> gaps_between(std::span<const Interval> apart) {
  std::vector<Interval> gaps;
  gaps.reserve(apart.size() + 1);
  Duration free_from{0};
  for (const Interval& interval : apart) {
    if (free_from < interval.start) gaps.push_back({free_from, interval.start});
    free_from = std::max(free_from, interval.finish);
  }
  if (free_from < kNever) gaps.push_back({free_from, kNever});
  return gaps;
}

Duration total_length(std::span<const Interval> intervals) {
  Duration total{0};
  for (const Interval& interval : intervals) total += interval.finish - interval.start;
  return total;
}

std::vector<int> assign_lanes(std::span<const Interval> intervals) {
  std::vector<size_t> order(intervals.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::pair(intervals[a].start, a) < std::pair(intervals[b].start, b);
  });
  using FreeAt = std::pair<Duration, int>;
  std::priority_queue<FreeAt, std::vector<FreeAt>, std::greater<>> taken;
  std::priority_queue<int, std::vector<int>, std::greater<>> free;
  std::vector<int> lanes(intervals.size());
  int lane_count = 0;
  for (const size_t index : order) {
    for (; !taken.empty() && taken.top().first <= intervals[index].start; taken.pop()) {
      free.push(taken.top().second);
    }
    if (free.empty()) free.push(lane_count++);
    lanes[index] = free.top();
    free.pop();
    taken.emplace(intervals[index].finish, lanes[index]);
  }
  return lanes;
}

}  // namespace tutti
