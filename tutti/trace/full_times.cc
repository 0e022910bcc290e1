#include "tutti/trace/full_times.h"

#include <algorithm>

namespace tutti {

const std::vector<Interval>& FullTimes::full_times(ChannelId id) {
  std::optional<std::vector<Interval>>& known = full_[id.index];
  if (!known) known = busy_intervals(channels_[id.index].spans, machine_.channel(id).capacity);
  return *known;
}

std::vector<Interval> FullTimes::room_on(const Hop* hop) {
  std::vector<Interval> full;
  if (hop != nullptr) {
    for (const ChannelId id : hop->channels) {
      if (machine_.channel(id).sharing != Sharing::exclusive) continue;
      full = unite(full, full_times(id));
    }
  }
  return gaps_between(full);
}

Duration FullTimes::full_since(const Hop& hop, Interval window) {
  Duration since = window.finish;
  for (bool earlier = true; earlier && since > window.start;) {
    earlier = false;
    for (const ChannelId id : hop.channels) {
      if (machine_.channel(id).sharing != Sharing::exclusive) continue;
      const std::vector<Interval>& full = full_times(id);
      // The last that starts before `since`.
      const auto after =
          std::lower_bound(full.begin(), full.end(), since,
                           [](const Interval& one, Duration time) { return one.start < time; });
      if (after == full.begin() || (after - 1)->finish < since) continue;
      since = (after - 1)->start;
      earlier = true;
    }
  }
  return std::max(since, window.start);
}

}  // namespace tutti
