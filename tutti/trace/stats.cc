#include "tutti/trace/stats.h"

#include <algorithm>
#include <array>
#include <set>

#include "tutti/trace/channels.h"
#include "tutti/trace/memory.h"
#include "tutti/trace/presence.h"

namespace tutti {
namespace {

// What an op does at one time, in the order in which it passes through them. An idle slot is put
// down to the last of the waiting ones that some op of the device is in; one that is ready waits
// for memory if there is no room for it, and else for the order.
enum Phase { kWaitsForOps, kWaitsForData, kIsReady, kRuns, kPhases };

// An op enters (+1) or leaves (-1) a phase.
struct Step {
  Duration time;
  Phase phase;
  int change;
  int64_t need;  // bytes that the op takes when it starts
};

// Walks through the use of one memory in the order of time.
class RoomWatch {
 public:
  // Null: no limit is enforced. Keeps a reference.
  RoomWatch(const MemoryUse* use, int64_t limit) : use_(use), limit_(limit) {}

  // How long in the interval there was no room for that many bytes. Intervals must ascend.
  Duration short_during(Interval interval, int64_t need) {
    Duration total{0};
    if (use_ == nullptr) return total;
    for (Duration time = interval.start; time < interval.finish;) {
      while (next() <= time) ++at_;
      const Duration until = std::min(next(), interval.finish);
      if (use_->bytes[at_] > limit_ - need) total += until - time;
      time = until;
    }
    return total;
  }

 private:
  Duration next() const { return at_ + 1 < use_->time.size() ? use_->time[at_ + 1] : kNever; }

  const MemoryUse* use_;
  int64_t limit_;
  size_t at_ = 0;
};

void add_steps(const Problem& problem, const Presence& presence, const OpSpan& span,
               std::vector<Step>& steps) {
  Duration produced = presence.placed(span.op);
  for (const EdgeId edge : problem.graph.edges(span.op)) {
    const OpId producer = problem.graph.edge_from(edge);
    const OpSpan* made = producer.valid() ? presence.span(producer) : nullptr;
    if (made != nullptr) produced = std::max(produced, made->finish);
  }
  produced = std::min(produced, span.start);
  // Where no transfer is recorded, all waiting after the producers is waiting for data.
  const Duration ready = std::clamp(presence.ready(span.op), produced, span.start);
  const std::array<Duration, kPhases + 1> borders = {Duration{0}, produced, ready, span.start,
                                                     span.finish};
  const int64_t need = bytes_at_start(problem.graph, span.op);
  for (int phase = 0; phase < kPhases; ++phase) {
    if (borders[phase] == borders[phase + 1]) continue;
    steps.push_back({borders[phase], static_cast<Phase>(phase), +1, need});
    steps.push_back({borders[phase + 1], static_cast<Phase>(phase), -1, need});
  }
}

DeviceStats device_stats(std::vector<Step>& steps, int slots, Duration makespan, RoomWatch room) {
  std::sort(steps.begin(), steps.end(),
            [](const Step& a, const Step& b) { return a.time < b.time; });
  steps.push_back({makespan, kRuns, 0, 0});  // the time after the last op is idle too
  std::array<int64_t, kPhases> in_phase{};
  std::array<double, kPhases> time{};
  std::multiset<int64_t> needs;  // of those that are ready
  double for_memory = 0;
  double finished = 0;
  Duration last{0};
  for (const Step& step : steps) {
    const auto length = static_cast<double>((step.time - last).count());
    const auto idle = static_cast<double>(std::max<int64_t>(slots - in_phase[kRuns], 0));
    double* reason = &finished;
    for (const Phase phase : {kWaitsForOps, kWaitsForData, kIsReady}) {
      if (in_phase[phase] > 0) reason = &time[phase];
    }
    time[kRuns] += length * static_cast<double>(in_phase[kRuns]);
    *reason += length * idle;
    if (in_phase[kIsReady] > 0 && idle > 0) {
      const Duration without_room = room.short_during({last, step.time}, *needs.rbegin());
      for_memory += static_cast<double>(without_room.count()) * idle;
    }
    in_phase[step.phase] += step.change;
    if (step.phase == kIsReady) {
      if (step.change > 0) {
        needs.insert(step.need);
      } else {
        needs.erase(needs.find(step.need));
      }
    }
    last = step.time;
  }
  DeviceStats stats;
  const double whole = static_cast<double>(slots) * static_cast<double>(makespan.count());
  if (whole <= 0) {
    stats.finished = 1;
    return stats;
  }
  stats.busy_share = time[kRuns] / whole;
  stats.waiting_for_ops = time[kWaitsForOps] / whole;
  stats.waiting_for_data = time[kWaitsForData] / whole;
  stats.waiting_for_memory = for_memory / whole;
  stats.waiting_for_order = std::max(0.0, time[kIsReady] - for_memory) / whole;
  stats.finished = finished / whole;
  return stats;
}

}  // namespace

TraceStats trace_stats(const Problem& problem, const Trace& trace) {
  TraceStats stats;
  for (const OpSpan& span : trace.ops) stats.makespan = std::max(stats.makespan, span.finish);
  const Presence presence(problem, trace, {});

  std::vector<std::vector<Step>> steps(static_cast<size_t>(problem.machine.size()));
  std::vector<int64_t> op_count(steps.size(), 0);
  for (const OpSpan& span : trace.ops) {
    add_steps(problem, presence, span, steps[span.device.index]);
    ++op_count[span.device.index];
  }
  const std::vector<ChannelUse> channels = channel_use(problem, trace);
  std::vector<MemoryUse> most_use;
  if (problem.has_memory_limits()) {
    FullTimes full_times(problem.machine, channels);
    most_use = most_memory_use(problem, trace, presence, full_times);
  }
  for (const DeviceId device : problem.machine.devices()) {
    const MemoryId memory = problem.machine.memory_of(device);
    const int64_t limit = problem.memory_limit(memory);
    const bool limited = limit != kUnlimitedBytes && !is_released(trace) && !is_of_files(trace);
    const RoomWatch room(limited ? &most_use[memory.index] : nullptr, limit);
    stats.devices.push_back(device_stats(steps[device.index], problem.machine.device(device).slots,
                                         stats.makespan, room));
    stats.devices.back().ops = op_count[device.index];
  }

  for (const ValueId value : problem.graph.values()) {
    const auto transfers = static_cast<int64_t>(presence.transfers(value).size());
    stats.transfer_count += transfers;
    stats.bytes_moved += transfers * problem.graph.bytes(value);
  }
  for (const ChannelUse& use : channels) {
    const Duration busy = total_length(busy_intervals(use.spans, /*level=*/1));
    stats.channel_busy_share.push_back(stats.makespan.count() == 0
                                           ? 0
                                           : static_cast<double>(busy.count()) /
                                                 static_cast<double>(stats.makespan.count()));
  }
  if (is_released(trace) || is_of_files(trace)) return stats;
  for (const MemoryUse& use : memory_use(problem, trace, presence)) {
    stats.peak_memory_bytes.push_back(use.peak());
  }
  return stats;
}

}  // namespace tutti
