#include "tutti/runtime/local/jobs/own_counters.h"

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

CounterReading reading_of(const std::vector<double>& values) {
  CounterReading reading{.count = static_cast<int>(values.size())};
  for (const double value : values) reading.mean += value / reading.count;
  double squares = 0;
  for (const double value : values) squares += (value - reading.mean) * (value - reading.mean);
  if (reading.count > 1) reading.spread = std::sqrt(squares / (reading.count - 1));
  return reading;
}

}  // namespace

bool OwnCounters::tells(const Machine& machine, const Counter& counter) {
  if (counter.quantity == Quantity::waiting) return true;
  return counter.quantity == Quantity::busy && counter.resource.kind == Resource::Kind::device &&
         !is_cpu(machine, DeviceId{counter.resource.index});
}

OwnCounters::OwnCounters(const Cluster& cluster, const std::vector<Counter>& counters)
    : cluster_(cluster) {
  for (size_t i = 0; i < counters.size(); ++i) {
    if (!tells(cluster.machine(), counters[i])) continue;
    const Told told{.counter = static_cast<int>(i), .resource = counters[i].resource};
    if (counters[i].quantity == Quantity::waiting) {
      waiting_.push_back(told);
    } else {
      busy_.push_back({.told = told, .device = DeviceId{told.resource.index}});
    }
  }
}

void OwnCounters::Told::add(double share) {
  if (last.size() < kWindow) {
    last.push_back(share);
  } else {
    last[next++ % kWindow] = share;
  }
}

void OwnCounters::launched(const WorldState& state, const Action& action) {
  if (waiting_.empty()) return;
  const JobStatus& job = state.job(action.job);
  const Duration alone = state.fetch_time(job, action.op, action.device);
  // An op that waits for a slot says nothing of links.
  const bool waits = state.free_slot(action.device, job.job->kind(action.op)) < 0;
  if (alone < kLeastFetch || waits) return;
  Fetch& fetch = fetches_.emplace_back(Fetch{action.job, action.op, alone});
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
      break;
    }
  }
}

void OwnCounters::forget(JobId job, OpId op) {
  std::erase_if(fetches_, [&](const Fetch& fetch) { return fetch.job == job && fetch.op == op; });
}

void OwnCounters::started(const JobStatus& job, OpId id) {
  const OpStatus& op = job.ops[id.index];
  pass(op.device, op.started, 1);
  const auto found = std::find_if(fetches_.begin(), fetches_.end(), [&](const Fetch& fetch) {
    return fetch.job == job.id && fetch.op == id;
  });
  if (found == fetches_.end()) return;
  for (const Resource& channel : found->channels)
    add_waiting(channel, waiting_share(found->alone, op.started - op.launched));
  fetches_.erase(found);
}

void OwnCounters::finished(int32_t slot, const FinishedOp& op) {
  pass(op.device, op.finished, -1);
  const Resource memory = resource_of(cluster_.machine().memory_of(op.device));
  const int32_t shared = cluster_.resources().find(memory);
  for (const Draw& draw : cluster_.draws(op.kind, slot)) {
    if (draw.resource != shared || draw.amount <= 0) continue;
    add_waiting(memory, waiting_share(op.alone, op.finished - op.started));
    return;
  }
}

void OwnCounters::add_waiting(const Resource& resource, double share) {
  for (Told& told : waiting_) {
    if (told.resource == resource) return told.add(share);
  }
}

// Time passes on the device, and then so many more of its slots run an op.
void OwnCounters::pass(DeviceId device, Duration now, int begun) {
  for (Busy& busy : busy_) {
    if (busy.device != device) continue;
    busy.ran += (now - busy.passed) * busy.running;
    busy.passed = now;
    busy.running += begun;
    const Duration interval = now - busy.since;
    if (interval < kInterval) return;
    const double slots = cluster_.machine().device(device).slots;
    busy.told.add(static_cast<double>(busy.ran.count()) /
                  (slots * static_cast<double>(interval.count())));
    busy.since = now;
    busy.ran = Duration(0);
    return;
  }
}

void OwnCounters::read(Duration now, std::vector<CounterReading>& readings) {
  for (const Told& told : waiting_) {
    if (!told.last.empty()) readings[static_cast<size_t>(told.counter)] = reading_of(told.last);
  }
  for (Busy& busy : busy_) {
    pass(busy.device, now, 0);
    const Told& told = busy.told;
    if (!told.last.empty()) readings[static_cast<size_t>(told.counter)] = reading_of(told.last);
  }
}

}  // namespace tutti
