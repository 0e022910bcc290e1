#include "tutti/runtime/arriving/own_waiting.h"

#include <algorithm>
#include <cmath>

namespace tutti {
namespace {

// Shorter fetches say more of the engine's own delays than of links.
constexpr Duration kLeastFetch = std::chrono::microseconds(50);

double waiting_share(Duration alone, Duration took) {
  if (took.count() <= 0) return 0;
  return std::clamp(1 - static_cast<double>(alone.count()) / static_cast<double>(took.count()), 0.0,
                    1.0);
}

}  // namespace

OwnWaiting::OwnWaiting(const Cluster& cluster, const std::vector<Counter>& counters)
    : cluster_(cluster), fetches_(static_cast<size_t>(cluster.slot_count())) {
  for (size_t i = 0; i < counters.size(); ++i) {
    if (counters[i].quantity != Quantity::waiting) continue;
    told_.push_back({.counter = static_cast<int>(i), .resource = counters[i].resource});
  }
}

void OwnWaiting::launched(const ClusterState& state, const Action& action, int32_t slot) {
  Fetch& fetch = fetches_[static_cast<size_t>(slot)];
  fetch = {};
  if (told_.empty()) return;
  const JobStatus& job = state.job(action.job);
  fetch.alone = state.fetch_time(job, action.op, action.device);
  if (fetch.alone < kLeastFetch) return;
  const Machine& machine = cluster_.machine();
  const MemoryId to = machine.memory_of(action.device);
  for (const ValueId value : job.job->graph().operands(action.op)) {
    if (job.holds(to, value)) continue;
    for (int32_t m = 0; m < machine.memory_count(); ++m) {
      const Route* route = machine.route(MemoryId{m}, to);
      if (!job.holds(MemoryId{m}, value) || route == nullptr) continue;
      for (const Hop& hop : route->hops) {
        for (const ChannelId channel : hop.channels) fetch.channels.push_back(resource_of(channel));
      }
      break;  // the engine fetches from where the value was made
    }
  }
}

void OwnWaiting::started(int32_t slot, Duration launched, Duration now) {
  const Fetch& fetch = fetches_[static_cast<size_t>(slot)];
  if (fetch.alone < kLeastFetch) return;
  for (const Resource& channel : fetch.channels)
    add(channel, waiting_share(fetch.alone, now - launched));
}

void OwnWaiting::finished(int32_t slot, const FinishedOp& op) {
  const Resource memory = resource_of(cluster_.machine().memory_of(op.device));
  const int32_t shared = cluster_.resources().find(memory);
  for (const Draw& draw : cluster_.draws(op.kind, slot)) {
    if (draw.resource != shared || draw.amount <= 0) continue;
    add(memory, waiting_share(op.alone, op.finished - op.started));
    return;
  }
}

void OwnWaiting::add(const Resource& resource, double share) {
  for (Told& told : told_) {
    if (told.resource != resource) continue;
    if (told.last.size() < kWindow) {
      told.last.push_back(share);
    } else {
      told.last[told.next++ % kWindow] = share;
    }
    return;
  }
}

void OwnWaiting::read(std::vector<CounterReading>& readings) const {
  for (const Told& told : told_) {
    if (told.last.empty()) continue;
    CounterReading reading{.count = static_cast<int>(told.last.size())};
    for (const double share : told.last) reading.mean += share / reading.count;
    double squares = 0;
    for (const double share : told.last) squares += (share - reading.mean) * (share - reading.mean);
    if (reading.count > 1) reading.spread = std::sqrt(squares / (reading.count - 1));
    readings[static_cast<size_t>(told.counter)] = reading;
  }
}

}  // namespace tutti
