#include "tutti/runtime/sim/links/flows.h"

#include <algorithm>
#include <limits>

namespace tutti {
namespace {

constexpr double kUnbounded = std::numeric_limits<double>::infinity();

// By channel: whether every hop over it shares no other and is held back by nothing else.
std::vector<bool> find_equal_shares(const Machine& machine) {
  std::vector<bool> equal;
  for (int32_t i = 0; i < machine.channel_count(); ++i) {
    const Channel& channel = machine.channel(ChannelId{i});
    equal.push_back(channel.sharing == Sharing::shared && channel.bytes_per_s > 0);
  }
  for (int32_t from = 0; from < machine.memory_count(); ++from) {
    for (int32_t to = 0; to < machine.memory_count(); ++to) {
      const Route* route = machine.route(MemoryId{from}, MemoryId{to});
      if (route == nullptr) continue;
      for (const Hop& hop : route->hops) {
        for (const ChannelId channel : hop.shared) {
          const double bytes_per_ns = machine.channel(channel).bytes_per_s * 1e-9;
          if (hop.shared.size() > 1 || hop.unshared_bytes_per_ns < bytes_per_ns) {
            equal[static_cast<size_t>(channel.index)] = false;
          }
        }
      }
    }
  }
  return equal;
}

}  // namespace

Flows::Flows(const Machine& machine) : first_finish_(machine.channel_count()) {
  const auto channels = static_cast<size_t>(machine.channel_count());
  const std::vector<bool> equal = find_equal_shares(machine);
  for (int32_t i = 0; i < machine.channel_count(); ++i) {
    const Channel& channel = machine.channel(ChannelId{i});
    bytes_per_ns_.push_back(channel.bytes_per_s > 0 ? channel.bytes_per_s * 1e-9 : kUnbounded);
    equal_share_of_.push_back(-1);
    if (!equal[static_cast<size_t>(i)]) continue;
    equal_share_of_.back() = static_cast<int32_t>(equal_shares_.size());
    equal_shares_.emplace_back(bytes_per_ns_.back());
  }
  flows_on_.resize(channels);
  is_touched_.assign(channels, 0);
  capacity_left_.assign(channels, 0);
  rising_.assign(channels, 0);
}

void Flows::reset() {
  flows_.clear();
  free_.clear();
  first_finish_.reset();
  turn_ = 0;
  for (EqualShare& share : equal_shares_) share.reset();
  for (std::vector<int32_t>& flows : flows_on_) flows.clear();
  for (const int32_t channel : touched_) is_touched_[channel] = 0;
  touched_.clear();
}

void Flows::touch(const Hop& hop) {
  for (const ChannelId channel : hop.shared) {
    if (is_touched_[channel.index] != 0) continue;
    is_touched_[channel.index] = 1;
    touched_.push_back(channel.index);
  }
}

void Flows::join(Duration now, int32_t transfer, const Hop& hop, double bytes) {
  const int32_t channel = hop.shared.front().index;
  if (const int32_t share = equal_share_of_[channel]; share >= 0) {
    equal_shares_[share].join(now, bytes, turn_++, transfer);
    first_finish_.set(channel, equal_shares_[share].next_finish());
    return;
  }
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
  for (const ChannelId shared : hop.shared) flows_on_[shared.index].push_back(index);
  touch(hop);
}

void Flows::take_out(int32_t index) {
  Flow& flow = flows_[index];
  ended_.emplace_back(flow.turn, flow.transfer);
  for (const ChannelId channel : flow.hop->shared) std::erase(flows_on_[channel.index], index);
  touch(*flow.hop);
  free_.push_back(index);
}

void Flows::advance(Duration now, std::vector<int32_t>& finished) {
  ended_.clear();
  while (first_finish_.earliest() <= now) {
    const int32_t channel = first_finish_.which();
    if (const int32_t share = equal_share_of_[channel]; share >= 0) {
      equal_shares_[share].advance(now, ended_);
      first_finish_.set(channel, equal_shares_[share].next_finish());
      continue;
    }
    const std::vector<int32_t>& here = flows_on_[channel];
    for (size_t i = here.size(); i-- > 0;) {
      if (flows_[here[i]].finish <= now) take_out(here[i]);
    }
    first_finish_.set(channel, kNever);  // it was touched: next_finish() works it out again
  }
  if (ended_.size() > 1) std::sort(ended_.begin(), ended_.end());
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
    if (!flows_[index].fixed) level = std::min(level, flows_[index].hop->unshared_bytes_per_ns);
  }
  return level;
}

bool Flows::stops_at(const Flow& flow, double level) const {
  const double full = level * (1 + 1e-12);  // equal shares differ by rounding
  if (flow.hop->unshared_bytes_per_ns <= full) return true;
  return std::any_of(flow.hop->shared.begin(), flow.hop->shared.end(), [&](ChannelId channel) {
    return capacity_left_[channel.index] <= full * rising_[channel.index];
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
      for (const ChannelId channel : flow.hop->shared) {
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
  // Rounded up to a whole nanosecond; up to a millionth of one is rounding, not data.
  flow.finish = now + Duration(static_cast<int64_t>(flow.bytes_left / rate + (1 - 1e-6)));
}

void Flows::retime_touched(Duration now) {
  gather();
  share_fairly();
  for (const int32_t channel : touched_) {
    first_finish_.set(channel, kNever);
    is_touched_[channel] = 0;
  }
  touched_.clear();
  for (const int32_t index : group_) {
    Flow& flow = flows_[index];
    retime(flow, flow.new_rate, now);
    for (const ChannelId channel : flow.hop->shared) {
      if (flow.finish < first_finish_[channel.index]) {
        first_finish_.set(channel.index, flow.finish);
      }
    }
  }
}

Duration Flows::next_finish(Duration now) {
  if (!touched_.empty()) retime_touched(now);
  return first_finish_.earliest();
}

}  // namespace tutti
