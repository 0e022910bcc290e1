#include "tutti/runtime/sim/flows.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tutti {
namespace {

constexpr double kUnbounded = std::numeric_limits<double>::infinity();
// Less than this is rounding, not data.
constexpr double kNothingLeft = 1e-6;

double bytes_per_ns(const Channel& channel) {
  return channel.bytes_per_s > 0 ? channel.bytes_per_s * 1e-9 : kUnbounded;
}

}  // namespace

Flows::Flows(const Machine& machine)
    : machine_(machine),
      capacity_left_(static_cast<size_t>(machine.channel_count()), 0),
      unfixed_(static_cast<size_t>(machine.channel_count()), 0) {}

void Flows::reset() {
  flows_.clear();
  now_ = Duration{0};
  changed_ = false;
}

void Flows::join(Duration now, int32_t transfer, const Hop& hop, double bytes) {
  now_ = now;  // advance() has brought the others here
  flows_.push_back({.transfer = transfer, .hop = &hop, .bytes_left = bytes});
  changed_ = true;
}

void Flows::advance(Duration now, std::vector<int32_t>& finished) {
  const auto elapsed = static_cast<double>((now - now_).count());
  now_ = now;
  size_t kept = 0;
  for (Flow& flow : flows_) {
    if (elapsed > 0) flow.bytes_left -= flow.bytes_per_ns * elapsed;
    // A rate that would finish what is left within half a nanosecond has finished it.
    const bool done = flow.bytes_left <= std::max(kNothingLeft, 1e-3 * flow.bytes_per_ns);
    if (done) {
      finished.push_back(flow.transfer);
      changed_ = true;
    } else {
      flows_[kept++] = flow;
    }
  }
  flows_.resize(kept);
}

double Flows::own_limit(const Flow& flow) const {
  double limit = kUnbounded;
  for (const ChannelId id : flow.hop->channels) {
    const Channel& channel = machine_.channel(id);
    if (channel.sharing != Sharing::shared) limit = std::min(limit, bytes_per_ns(channel));
  }
  return limit;
}

void Flows::share_fairly() {
  used_.clear();
  for (const Flow& flow : flows_) {
    for (const ChannelId id : flow.hop->channels) {
      if (machine_.channel(id).sharing != Sharing::shared) continue;
      if (unfixed_[id.index]++ == 0) {
        used_.push_back(id.index);
        capacity_left_[id.index] = bytes_per_ns(machine_.channel(id));
      }
    }
  }
  fixed_.assign(flows_.size(), false);
  for (size_t left = flows_.size(); left > 0;) {
    double level = kUnbounded;
    for (const int32_t channel : used_) {
      if (unfixed_[channel] > 0) level = std::min(level, capacity_left_[channel] / unfixed_[channel]);
    }
    for (size_t i = 0; i < flows_.size(); ++i) {
      if (!fixed_[i]) level = std::min(level, own_limit(flows_[i]));
    }
    // Channels that are full at this level fix their flows; so does a flow's own limit.
    const double full = level * (1 + 1e-12);
    std::vector<bool>& fixed = fixed_;
    const size_t before = left;
    for (size_t i = 0; i < flows_.size(); ++i) {
      if (fixed[i]) continue;
      bool stops = own_limit(flows_[i]) <= full;
      for (const ChannelId id : flows_[i].hop->channels) {
        if (machine_.channel(id).sharing != Sharing::shared) continue;
        stops = stops || capacity_left_[id.index] <= full * unfixed_[id.index];
      }
      if (stops) flows_[i].bytes_per_ns = -1;  // marked; settled below, so that all see one level
    }
    for (size_t i = 0; i < flows_.size(); ++i) {
      if (fixed[i] || flows_[i].bytes_per_ns != -1) continue;
      fixed[i] = true;
      flows_[i].bytes_per_ns = level;
      --left;
      for (const ChannelId id : flows_[i].hop->channels) {
        if (machine_.channel(id).sharing != Sharing::shared) continue;
        capacity_left_[id.index] -= level;
        --unfixed_[id.index];
      }
    }
    if (left == before) break;  // unreachable: some limit gave the level
  }
  for (const int32_t channel : used_) unfixed_[channel] = 0;
}

Duration Flows::next_finish() {
  if (flows_.empty()) return kNever;
  if (changed_) share_fairly();
  changed_ = false;
  double soonest = kUnbounded;
  for (const Flow& flow : flows_) soonest = std::min(soonest, flow.bytes_left / flow.bytes_per_ns);
  return now_ + Duration(std::max<int64_t>(0, static_cast<int64_t>(std::ceil(soonest - 1e-6))));
}

}  // namespace tutti
