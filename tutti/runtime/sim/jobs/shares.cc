#include "tutti/runtime/sim/jobs/shares.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tutti/base/check.h"

namespace tutti {
namespace {

// Equal shares differ by rounding.
constexpr double kSlack = 1e-9;

}  // namespace

SharedFlows::SharedFlows(std::vector<double> capacities) : capacities_(std::move(capacities)) {
  used_.assign(capacities_.size(), 0.0);
  slope_.assign(capacities_.size(), 0.0);
  full_.assign(capacities_.size(), 0);
}

void SharedFlows::reset() {
  flows_.clear();
  active_.clear();
  free_.clear();
  turn_ = 0;
  now_ = Duration(0);
  stale_ = true;
}

int32_t SharedFlows::join(std::span<const Draw> draws, double work, int32_t owner) {
  auto index = static_cast<int32_t>(flows_.size());
  if (free_.empty()) {
    flows_.emplace_back();
  } else {
    index = free_.back();
    free_.pop_back();
  }
  Flow& flow = flows_[index];
  flow = {.draws = draws, .left = work, .turn = turn_++, .owner = owner};
  for (const Draw& draw : draws)
    flow.dominant = std::max(flow.dominant, draw.amount / capacities_[draw.resource]);
  active_.push_back(index);
  stale_ = true;
  return index;
}

void SharedFlows::leave(int32_t flow) {
  const auto found = std::find(active_.begin(), active_.end(), flow);
  TUTTI_CHECK(found != active_.end());
  active_.erase(found);
  free_.push_back(flow);
  stale_ = true;
}

void SharedFlows::advance(Duration now) {
  share_out();
  const auto elapsed = static_cast<double>((now - now_).count());
  for (const int32_t index : active_) flows_[index].left -= flows_[index].speed * elapsed;
  now_ = now;
}

Duration SharedFlows::next_finish() {
  share_out();
  double first = std::numeric_limits<double>::infinity();
  for (const int32_t index : active_) {
    const Flow& flow = flows_[index];
    if (flow.left < kEndless / 2) first = std::min(first, std::max(0.0, flow.left) / flow.speed);
  }
  if (first >= static_cast<double>((kNever - now_).count())) return kNever;
  // Rounded up to a whole nanosecond; up to a millionth of one is rounding, not work.
  return now_ + Duration(static_cast<int64_t>(first + (1 - 1e-6)));
}

void SharedFlows::take_finished(std::vector<int32_t>& owners) {
  size_t kept = 0;
  for (const int32_t index : active_) {
    if (flows_[index].left > 1e-6) {
      active_[kept++] = index;
      continue;
    }
    owners.push_back(flows_[index].owner);
    free_.push_back(index);
    stale_ = true;
  }
  active_.resize(kept);
}

std::span<const double> SharedFlows::used() {
  share_out();
  return used_;
}

std::span<const uint8_t> SharedFlows::full() {
  share_out();
  return full_;
}

double SharedFlows::speed(int32_t flow) {
  share_out();
  return flows_[flow].speed;
}

void SharedFlows::use(const Flow& flow) {
  for (const Draw& draw : flow.draws) used_[draw.resource] += draw.amount * flow.speed;
}

void SharedFlows::share_out() {
  if (!stale_) return;
  stale_ = false;
  std::fill(used_.begin(), used_.end(), 0.0);
  std::fill(full_.begin(), full_.end(), uint8_t{0});
  bool fits = true;  // everything at full speed
  for (const int32_t index : active_) {
    Flow& flow = flows_[index];
    flow.speed = 1;
    for (const Draw& draw : flow.draws) {
      used_[draw.resource] += draw.amount;
      fits = fits && used_[draw.resource] <= capacities_[draw.resource] * (1 + kSlack);
    }
  }
  if (!fits) fill();
}

// Progressive filling: raise the dominant shares of all flows together; a flow stops when it is at
// full speed or a resource that it draws on is full.
void SharedFlows::fill() {
  std::fill(used_.begin(), used_.end(), 0.0);
  rising_.assign(active_.begin(), active_.end());
  for (const int32_t index : active_) {
    if (flows_[index].dominant > 0) continue;
    flows_[index].speed = 1;
    std::erase(rising_, index);
  }
  while (!rising_.empty()) {
    std::fill(slope_.begin(), slope_.end(), 0.0);
    double level = std::numeric_limits<double>::infinity();
    for (const int32_t index : rising_) {
      const Flow& flow = flows_[index];
      level = std::min(level, flow.dominant);
      for (const Draw& draw : flow.draws) slope_[draw.resource] += draw.amount / flow.dominant;
    }
    for (size_t r = 0; r < slope_.size(); ++r) {
      if (slope_[r] > 0)
        level = std::min(level, std::max(0.0, capacities_[r] - used_[r]) / slope_[r]);
    }
    const double full_level = level * (1 + kSlack);
    for (size_t r = 0; r < slope_.size(); ++r) {
      if (slope_[r] > 0 && capacities_[r] - used_[r] <= full_level * slope_[r]) full_[r] = 1;
    }
    size_t kept = 0;
    for (const int32_t index : rising_) {
      Flow& flow = flows_[index];
      const bool stops = flow.dominant <= full_level ||
                         std::any_of(flow.draws.begin(), flow.draws.end(),
                                     [&](const Draw& draw) { return full_[draw.resource] != 0; });
      if (!stops) {
        rising_[kept++] = index;
        continue;
      }
      flow.speed = std::min(1.0, level / flow.dominant);
      use(flow);
    }
    TUTTI_CHECK(kept < rising_.size());
    rising_.resize(kept);
  }
}

}  // namespace tutti
