#include "tutti/runtime/sim/flows.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace tutti {
namespace {

constexpr double kUnbounded = std::numeric_limits<double>::infinity();

}  // namespace

Flows::Flows(const Machine& machine) {
  const auto channels = static_cast<size_t>(machine.channel_count());
  for (int32_t i = 0; i < machine.channel_count(); ++i) {
    const Channel& channel = machine.channel(ChannelId{i});
    shared_.push_back(channel.sharing == Sharing::shared);
    bytes_per_ns_.push_back(channel.bytes_per_s > 0 ? channel.bytes_per_s * 1e-9 : kUnbounded);
  }
  flows_on_.resize(channels);
  is_touched_.assign(channels, 0);
  version_.assign(channels, 0);
  crossing_.assign(channels, 0);
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
  std::fill(crossing_.begin(), crossing_.end(), 0);
  for (const int32_t channel : touched_) is_touched_[channel] = 0;
  touched_.clear();
}

void Flows::touch(const Hop& hop) {
  for (const ChannelId channel : hop.channels) {
    if (!is_shared(channel) || is_touched_[channel.index] != 0) continue;
    is_touched_[channel.index] = 1;
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
  const auto shared_channels = std::count_if(hop.channels.begin(), hop.channels.end(),
                                             [&](ChannelId channel) { return is_shared(channel); });
  flow.crosses = shared_channels > 1;
  for (const ChannelId channel : hop.channels) {
    if (is_shared(channel)) {
      flows_on_[channel.index].push_back(index);
      crossing_[channel.index] += flow.crosses;
    } else {
      flow.own_limit = std::min(flow.own_limit, bytes_per_ns_[channel.index]);
    }
  }
  ++count_;
  touch(hop);
}

void Flows::drop_stale() {
  while (!finishes_.empty() && version_[finishes_.front().channel] != finishes_.front().version) {
    std::pop_heap(finishes_.begin(), finishes_.end(), std::greater<>());
    finishes_.pop_back();
  }
}

void Flows::take_out(int32_t index) {
  Flow& flow = flows_[index];
  ended_.emplace_back(flow.turn, flow.transfer);
  for (const ChannelId channel : flow.hop->channels) {
    if (!is_shared(channel)) continue;
    std::erase(flows_on_[channel.index], index);
    crossing_[channel.index] -= flow.crosses;
    ++version_[channel.index];  // its entry is stale; touch() has a new one made
  }
  touch(*flow.hop);
  free_.push_back(index);
  --count_;
}

void Flows::advance(Duration now, std::vector<int32_t>& finished) {
  ended_.clear();
  for (drop_stale(); !finishes_.empty() && finishes_.front().time <= now; drop_stale()) {
    const int32_t channel = finishes_.front().channel;
    const std::vector<int32_t>& here = flows_on_[channel];
    for (size_t i = here.size(); i-- > 0;) {
      if (flows_[here[i]].finish <= now) take_out(here[i]);
    }
  }
  std::sort(ended_.begin(), ended_.end());
  for (const auto& [turn, transfer] : ended_) finished.push_back(transfer);
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
  // The flows of one channel stand in the order they joined; several channels are mixed.
  if (touched_.size() > 1) {
    std::sort(group_.begin(), group_.end(),
              [&](int32_t a, int32_t b) { return flows_[a].turn < flows_[b].turn; });
  }
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
    capacity_left_[channel] = bytes_per_ns_[channel];
  }
  for (const int32_t index : group_) {
    flows_[index].gathered = false;
    flows_[index].fixed = false;
  }
  for (size_t left = group_.size(); left > 0;) {
    const double level = next_level();
    // First all that stop at this level, then what they leave: each must see the same level.
    for (const int32_t index : group_) {
      Flow& flow = flows_[index];
      if (!flow.fixed) flow.new_rate = stops_at(flow, level) ? level : -1;
    }
    for (const int32_t index : group_) {
      Flow& flow = flows_[index];
      if (flow.fixed || flow.new_rate < 0) continue;
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

void Flows::retime(Flow& flow, double rate, Duration now) {
  const auto elapsed = static_cast<double>((now - flow.seen).count());
  flow.bytes_left = std::max(0.0, flow.bytes_left - flow.bytes_per_ns * elapsed);
  flow.seen = now;
  flow.bytes_per_ns = rate;
  // Up to a millionth of a nanosecond is rounding, not data.
  const double ns = std::ceil(flow.bytes_left / rate - 1e-6);
  flow.finish = now + Duration(static_cast<int64_t>(std::max(0.0, ns)));
}

bool Flows::share_equally(int32_t channel, Duration now) {
  const std::vector<int32_t>& here = flows_on_[channel];
  if (crossing_[channel] > 0) return false;
  const double share = bytes_per_ns_[channel] / static_cast<double>(here.size());
  for (const int32_t index : here) {
    if (flows_[index].own_limit < share) return false;
  }
  for (const int32_t index : here) retime(flows_[index], share, now);
  return true;
}

void Flows::note_first_finish(int32_t channel) {
  ++version_[channel];
  if (flows_on_[channel].empty()) return;
  Duration first = kNever;
  for (const int32_t index : flows_on_[channel]) first = std::min(first, flows_[index].finish);
  finishes_.push_back({.time = first, .channel = channel, .version = version_[channel]});
  std::push_heap(finishes_.begin(), finishes_.end(), std::greater<>());
}

Duration Flows::next_finish(Duration now) {
  if (!touched_.empty()) {
    const bool all_simple = std::all_of(touched_.begin(), touched_.end(), [&](int32_t channel) {
      return share_equally(channel, now);
    });
    if (!all_simple) {
      gather();
      share_fairly();
      for (const int32_t index : group_) retime(flows_[index], flows_[index].new_rate, now);
    }
    for (const int32_t channel : touched_) {
      note_first_finish(channel);
      is_touched_[channel] = 0;
    }
    touched_.clear();
  }
  drop_stale();
  return finishes_.empty() ? kNever : finishes_.front().time;
}

}  // namespace tutti
