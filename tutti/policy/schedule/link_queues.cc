#include "tutti/policy/schedule/link_queues.h"

#include <algorithm>
#include <cmath>

#include "tutti/costs/costs.h"

namespace tutti {
namespace {

// How often at most a gap is searched again because shared channels make the transfer longer.
constexpr int kMostTries = 8;

Duration time_of_all(const Channel& channel, int64_t bytes) {
  if (channel.bytes_per_s <= 0) return Duration{0};
  return Duration(
      static_cast<int64_t>(std::ceil(static_cast<double>(bytes) / channel.bytes_per_s * 1e9)));
}

}  // namespace

LinkQueues::LinkQueues(const Machine& machine) : machine_(machine) {
  for (int32_t i = 0; i < machine.channel_count(); ++i) {
    const Channel& channel = machine.channel(ChannelId{i});
    lane_begin_.push_back(static_cast<int32_t>(lanes_.size()));
    sharing_.push_back(channel.sharing);
    if (channel.sharing == Sharing::unlimited) continue;
    const int lanes = channel.sharing == Sharing::exclusive ? channel.capacity : 1;
    lanes_.resize(lanes_.size() + static_cast<size_t>(lanes));
  }
  lane_begin_.push_back(static_cast<int32_t>(lanes_.size()));
}

LinkQueues::Found LinkQueues::find(ChannelId channel, Duration ready, Duration length) const {
  Found best{.lane = -1, .start = kNever};
  for (int32_t i = lane_begin_[channel.index]; i < lane_begin_[channel.index + 1]; ++i) {
    const Lane& lane = lanes_[static_cast<size_t>(i)];
    const Duration from = lane.round == round_ ? std::max(ready, lane.attempted_until) : ready;
    const Duration start = lane.booked.earliest_start(from, length);
    if (start < best.start) best = {.lane = i, .start = start};
    if (best.start == ready) break;
  }
  return best;
}

Duration LinkQueues::common_start(const Hop& hop, Duration ready, Duration length) const {
  Duration start = ready;
  for (bool moved = true; moved;) {
    moved = false;
    for (const ChannelId channel : hop.channels) {
      if (sharing_[static_cast<size_t>(channel.index)] != Sharing::exclusive) continue;
      const Duration free = find(channel, start, length).start;
      moved = moved || free > start;
      start = free;
    }
  }
  return start;
}

Duration LinkQueues::shared_end(ChannelId channel, int64_t bytes, Duration ready) const {
  const Lane& lane = lanes_[static_cast<size_t>(lane_begin_[channel.index])];
  const Duration from = lane.round == round_ ? std::max(ready, lane.attempted_until) : ready;
  return lane.booked.end_of_fill(from, time_of_all(machine_.channel(channel), bytes));
}

void LinkQueues::take_share(ChannelId channel, int64_t bytes, Duration ready, Mode mode) {
  Lane& lane = lanes_[static_cast<size_t>(lane_begin_[channel.index])];
  if (mode == Mode::book) {
    lane.booked.fill(ready, time_of_all(machine_.channel(channel), bytes));
    return;
  }
  lane.attempted_until = shared_end(channel, bytes, ready);
  lane.round = round_;
}

void LinkQueues::take(const Found& found, Duration length, Mode mode) {
  Lane& lane = lanes_[static_cast<size_t>(found.lane)];
  if (mode == Mode::book) {
    lane.booked.add(found.start, length);
    return;
  }
  lane.attempted_until = found.start + length;
  lane.round = round_;
}

Duration LinkQueues::hop_end(const Hop& hop, int64_t bytes, Duration ready, Mode mode) {
  const Duration alone = Costs::hop_time(hop, bytes);
  Duration start = ready;
  Duration length = alone;
  for (int tries = 0; tries < kMostTries; ++tries) {
    start = common_start(hop, start, length);
    Duration end = start + alone;
    for (const ChannelId channel : hop.shared) {
      end = std::max(end, shared_end(channel, bytes, start + hop.latency));
    }
    if (end - start <= length) break;
    length = end - start;
  }
  // After the last try the stretch may be too short for its new length: look once more.
  start = common_start(hop, start, length);
  for (const ChannelId channel : hop.channels) {
    const auto sharing = sharing_[static_cast<size_t>(channel.index)];
    if (sharing == Sharing::exclusive) take(find(channel, start, length), length, mode);
    if (sharing == Sharing::shared) take_share(channel, bytes, start + hop.latency, mode);
  }
  return start + length;
}

Duration LinkQueues::book(const Route& route, int64_t bytes, Duration ready) {
  begin_attempts();  // what was only tried does not stand in the way
  for (const Hop& hop : route.hops) ready = hop_end(hop, bytes, ready, Mode::book);
  return ready;
}

Duration LinkQueues::attempt(const Route& route, int64_t bytes, Duration ready) {
  for (const Hop& hop : route.hops) ready = hop_end(hop, bytes, ready, Mode::attempt);
  return ready;
}

}  // namespace tutti
