#include "tutti/trace/check/fair_shares.h"

#include <algorithm>
#include <limits>

namespace tutti {

FairShares::FairShares(const Machine& machine)
    : machine_(machine),
      lanes_on_(static_cast<size_t>(machine.channel_count())),
      left_(lanes_on_.size(), 0),
      rising_(lanes_on_.size(), 0),
      is_touched_(lanes_on_.size(), 0) {}

FairShares::Lane& FairShares::lane_of(const Hop& hop) {
  const auto [entry, added] = lane_index_.emplace(&hop, static_cast<int32_t>(lanes_.size()));
  if (added) lanes_.push_back({.hop = &hop});
  return lanes_[entry->second];
}

void FairShares::touch(const Hop& hop) {
  for (const ChannelId channel : hop.shared) {
    if (is_touched_[channel.index]) continue;
    is_touched_[channel.index] = 1;
    touched_.push_back(channel.index);
  }
}

void FairShares::join(Duration now, const Hop& hop) {
  move_to(now);
  Lane& lane = lane_of(hop);
  if (lane.transfers++ == 0) {
    lane.moved = 0;  // a small sum keeps its digits
    lane.bytes_per_ns = 0;
    lane.seen = now;
    const auto index = static_cast<int32_t>(&lane - lanes_.data());
    for (const ChannelId channel : hop.shared) lanes_on_[channel.index].push_back(index);
  }
  touch(hop);
}

void FairShares::leave(Duration now, const Hop& hop) {
  move_to(now);
  Lane& lane = lane_of(hop);
  if (--lane.transfers == 0) {
    const auto index = static_cast<int32_t>(&lane - lanes_.data());
    for (const ChannelId channel : hop.shared) std::erase(lanes_on_[channel.index], index);
  }
  touch(hop);
}

FairShares::Progress FairShares::progress(Duration now, const Hop& hop) {
  move_to(now);
  const Lane& lane = lane_of(hop);
  const auto elapsed = static_cast<double>((now_ - lane.seen).count());
  return {lane.moved + lane.bytes_per_ns * elapsed, lane.bytes_per_ns};
}

void FairShares::move_to(Duration now) {
  if (now == now_) return;
  if (!touched_.empty()) {
    gather();
    for (const int32_t index : group_) {
      Lane& lane = lanes_[index];
      lane.moved += lane.bytes_per_ns * static_cast<double>((now_ - lane.seen).count());
      lane.seen = now_;
    }
    fill();
  }
  now_ = now;
}

void FairShares::gather() {
  group_.clear();
  for (size_t i = 0; i < touched_.size(); ++i) {  // grows while it is walked
    for (const int32_t index : lanes_on_[touched_[i]]) {
      if (lanes_[index].gathered) continue;
      lanes_[index].gathered = true;
      group_.push_back(index);
      touch(*lanes_[index].hop);
    }
  }
}

// Raises the rates of all transfers together; one that meets a limit stays at that level, and the
// others go on with what is left.
void FairShares::fill() {
  for (const int32_t channel : touched_) {
    is_touched_[channel] = 0;
    const double bytes_per_s = machine_.channel(ChannelId{channel}).bytes_per_s;
    left_[channel] = bytes_per_s > 0 ? bytes_per_s / 1e9 : std::numeric_limits<double>::infinity();
    rising_[channel] = 0;
    for (const int32_t index : lanes_on_[channel]) rising_[channel] += lanes_[index].transfers;
  }
  for (const int32_t index : group_) {
    lanes_[index].gathered = false;
    lanes_[index].rising = true;
  }
  const auto share = [&](ChannelId channel) {
    return left_[channel.index] / static_cast<double>(rising_[channel.index]);
  };
  const auto most = [&](const Lane& lane) {
    double rate = lane.hop->unshared_bytes_per_ns;
    for (const ChannelId channel : lane.hop->shared) rate = std::min(rate, share(channel));
    return rate;
  };
  std::vector<int32_t> rising = group_;
  std::vector<int32_t> full;
  while (!rising.empty()) {
    double level = std::numeric_limits<double>::infinity();
    for (const int32_t index : rising) level = std::min(level, most(lanes_[index]));
    // All that stop at this level must be found before what they take is taken off.
    full.clear();
    for (const int32_t index : rising) {
      if (most(lanes_[index]) <= level * (1 + 1e-12)) full.push_back(index);
    }
    for (const int32_t index : full) {
      Lane& lane = lanes_[index];
      lane.bytes_per_ns = level;
      lane.rising = false;
      for (const ChannelId channel : lane.hop->shared) {
        left_[channel.index] -= level * static_cast<double>(lane.transfers);
        rising_[channel.index] -= lane.transfers;
      }
    }
    std::erase_if(rising, [&](int32_t index) { return !lanes_[index].rising; });
  }
  touched_.clear();
}

}  // namespace tutti
