#include "tutti/runtime/sim/flows.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace tutti {
namespace {

constexpr double kUnbounded = std::numeric_limits<double>::infinity();

double bytes_per_ns(const Channel& channel) {
  return channel.bytes_per_s > 0 ? channel.bytes_per_s * 1e-9 : kUnbounded;
}

}  // namespace

Flows::Flows(const Machine& machine) : machine_(machine) {
  const auto channels = static_cast<size_t>(machine.channel_count());
  for (int32_t i = 0; i < machine.channel_count(); ++i) {
    shared_.push_back(machine.channel(ChannelId{i}).sharing == Sharing::shared);
  }
  flows_on_.resize(channels);
  is_touched_.assign(channels, false);
  capacity_left_.assign(channels, 0);
  rising_.assign(channels, 0);
}

void Flows::reset() {
  flows_.clear();
  free_.clear();
  finishes_.clear();
  count_ = 0;
  turn_ = 0;
  for (std::vector<int32_t>& flows : flows_on_) flows.clear();
  for (const int32_t channel : touched_) is_touched_[static_cast<size_t>(channel)] = false;
  touched_.clear();
}

void Flows::touch(const Hop& hop) {
  for (const ChannelId channel : hop.channels) {
    if (!is_shared(channel) || is_touched_[static_cast<size_t>(channel.index)]) continue;
    is_touched_[static_cast<size_t>(channel.index)] = true;
    touched_.push_back(channel.index);
  }
}

void Flows::join(Duration now, int32_t transfer, const Hop& hop, double bytes) {
  int32_t index = static_cast<int32_t>(flows_.size());
  if (free_.empty()) {
    flows_.emplace_back();
  } else {
    index = free_.back();
    free_.pop_back();
  }
  Flow& flow = flows_[index];
  flow.transfer = transfer;
  flow.hop = &hop;
  flow.turn = turn_++;
  flow.bytes_left = bytes;
  flow.bytes_per_ns = 0;
  flow.seen = now;
  flow.own_limit = kUnbounded;
  for (const ChannelId channel : hop.channels) {
    if (is_shared(channel)) {
      flows_on_[channel.index].push_back(index);
    } else {
      flow.own_limit = std::min(flow.own_limit, bytes_per_ns(machine_.channel(channel)));
    }
  }
  ++count_;
  touch(hop);
}

void Flows::drop_stale() {
  while (!finishes_.empty() && flows_[finishes_.front().flow].version != finishes_.front().version) {
    std::pop_heap(finishes_.begin(), finishes_.end(), std::greater<>());
    finishes_.pop_back();
  }
}

void Flows::advance(Duration now, std::vector<int32_t>& finished) {
  for (drop_stale(); !finishes_.empty() && finishes_.front().time <= now; drop_stale()) {
    const int32_t index = finishes_.front().flow;
    Flow& flow = flows_[index];
    finished.push_back(flow.transfer);
    ++flow.version;
    touch(*flow.hop);
    for (const ChannelId channel : flow.hop->channels) {
      if (is_shared(channel)) std::erase(flows_on_[channel.index], index);
    }
    free_.push_back(index);
    --count_;
  }
}

void Flows::gather() {
  group_.clear();
  for (size_t i = 0; i < touched_.size(); ++i) {  // grows while it is walked
    for (const int32_t index : flows_on_[touched_[i]]) {
      if (flows_[index].gathered) continue;
      flows_[index].gathered = true;
      group_.push_back(index);
      touch(*flows_[index].hop);
    }
  }
  std::sort(group_.begin(), group_.end(),
            [&](int32_t a, int32_t b) { return flows_[a].turn < flows_[b].turn; });
}

double Flows::next_level() const {
  double level = kUnbounded;
  for (const int32_t channel : touched_) {
    if (rising_[channel] > 0) level = std::min(level, capacity_left_[channel] / rising_[channel]);
  }
  for (const int32_t index : group_) {
    if (!flows_[index].fixed) level = std::min(level, flows_[index].own_limit);
  }
  return level;
}

bool Flows::stops_at(const Flow& flow, double level) const {
  const double full = level * (1 + 1e-12);  // equal shares differ by rounding
  if (flow.own_limit <= full) return true;
  return std::any_of(flow.hop->channels.begin(), flow.hop->channels.end(), [&](ChannelId channel) {
    return is_shared(channel) && capacity_left_[channel.index] <= full * rising_[channel.index];
  });
}

void Flows::share_fairly() {
  for (const int32_t channel : touched_) {
    rising_[channel] = static_cast<int32_t>(flows_on_[channel].size());
    capacity_left_[channel] = bytes_per_ns(machine_.channel(ChannelId{channel}));
  }
  for (const int32_t index : group_) flows_[index].fixed = false;
  for (size_t left = group_.size(); left > 0;) {
    const double level = next_level();
    // First all that stop at this level, then what they leave: each must see the same level.
    for (const int32_t index : group_) {
      Flow& flow = flows_[index];
      if (!flow.fixed) flow.bytes_per_ns = stops_at(flow, level) ? level : -1;
    }
    for (const int32_t index : group_) {
      Flow& flow = flows_[index];
      if (flow.fixed || flow.bytes_per_ns < 0) continue;
      flow.fixed = true;
      --left;
      for (const ChannelId channel : flow.hop->channels) {
        if (!is_shared(channel)) continue;
        capacity_left_[channel.index] -= level;
        --rising_[channel.index];
      }
    }
  }
}

Duration Flows::next_finish(Duration now) {
  if (!touched_.empty()) {
    gather();
    for (const int32_t index : group_) {
      Flow& flow = flows_[index];
      flow.gathered = false;
      const auto elapsed = static_cast<double>((now - flow.seen).count());
      flow.bytes_left = std::max(0.0, flow.bytes_left - flow.bytes_per_ns * elapsed);
      flow.seen = now;
    }
    share_fairly();
    for (const int32_t index : group_) {
      Flow& flow = flows_[index];
      // Up to a millionth of a nanosecond is rounding, not data.
      const double ns = std::ceil(flow.bytes_left / flow.bytes_per_ns - 1e-6);
      finishes_.push_back({.time = now + Duration(static_cast<int64_t>(std::max(0.0, ns))),
                           .turn = flow.turn,
                           .flow = index,
                           .version = ++flow.version});
      std::push_heap(finishes_.begin(), finishes_.end(), std::greater<>());
    }
    for (const int32_t channel : touched_) is_touched_[static_cast<size_t>(channel)] = false;
    touched_.clear();
  }
  drop_stale();
  return finishes_.empty() ? kNever : finishes_.front().time;
}

}  // namespace tutti
