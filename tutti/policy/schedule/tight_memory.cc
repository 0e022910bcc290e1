#include "tutti/policy/schedule/tight_memory.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "tutti/plan/policy.h"
#include "tutti/policy/schedule/contention.h"
#include "tutti/policy/schedule/memory.h"
#include "tutti/policy/schedule/order.h"

namespace tutti {
namespace {

constexpr double kShares[] = {1, 0.85, 0.7, 0.55, 0.4};

enum class Prefer { earliest_finish, most_room };

DeviceId choose(ContentionSchedule& schedule, OpId op, Prefer prefer) {
  const auto open = schedule.devices_for(op);
  DeviceId best{};
  int64_t best_cost = 0;
  for (const DeviceId device : std::vector<DeviceId>(open.begin(), open.end())) {
    const int64_t cost = prefer == Prefer::most_room ? -schedule.state().memory_left(device)
                                                     : schedule.finish_on(op, device).count();
    if (best.valid() && cost >= best_cost) continue;
    best = device;
    best_cost = cost;
  }
  return best;
}

Result<Plan> plan_depth_first(const Problem& problem, const Stop& stop, Prefer prefer,
                              double share) {
  ContentionSchedule schedule(problem, share);
  for (const OpId op : depth_first_order(problem.graph)) {
    if (stop.now()) return out_of_time();
    const DeviceId device = choose(schedule, op, prefer);
    if (!device.valid()) return no_room_for(schedule.state(), op);
    schedule.place(op, device);
  }
  return schedule.to_plan();
}

// Bytes that come or go at a time; what goes, goes first.
struct Change {
  Duration time;
  int64_t bytes;
  MemoryId memory;
  friend auto operator<=>(const Change&, const Change&) = default;
};

// A weight that is streamed is there while its readers run.
void add_streams_of(const Problem& problem, const Plan& plan, ValueId weight,
                    std::vector<Change>& changes) {
  const int64_t bytes = problem.graph.bytes(weight);
  const MemoryId home = problem.home(weight);
  changes.push_back({Duration{0}, bytes, home});
  for (const EdgeId edge : problem.graph.consumers(weight)) {
    const OpId reader = problem.graph.edge_to(edge);
    const MemoryId memory = problem.machine.memory_of(plan.placement[reader.index]);
    if (memory == home) continue;
    changes.push_back({plan.start[reader.index], bytes, memory});
    changes.push_back({plan.finish[reader.index], -bytes, memory});
  }
}

// A weight is there from the start, a value without readers stays to the end.
void add_changes_of(const Problem& problem, const Plan& plan, ValueId value,
                    std::vector<Change>& changes) {
  const Graph& graph = problem.graph;
  const OpId producer = graph.producer(value);
  const int64_t bytes = graph.bytes(value);
  const bool weight = !producer.valid() && graph.is_weight(value);
  if (problem.weights_are_streamed() && problem.is_homed_weight(value)) {
    add_streams_of(problem, plan, value, changes);
    return;
  }
  Duration last_anywhere{0};
  std::vector<std::pair<MemoryId, Duration>> last_in;  // the readers' memories, few
  for (const EdgeId edge : graph.consumers(value)) {
    const OpId reader = graph.edge_to(edge);
    const MemoryId memory = problem.machine.memory_of(plan.placement[reader.index]);
    const Duration finish = plan.finish[reader.index];
    last_anywhere = std::max(last_anywhere, finish);
    const auto known = std::find_if(last_in.begin(), last_in.end(),
                                    [&](const auto& entry) { return entry.first == memory; });
    if (known == last_in.end()) {
      last_in.emplace_back(memory, finish);
    } else {
      known->second = std::max(known->second, finish);
    }
  }
  const MemoryId home = producer.valid() ? problem.machine.memory_of(plan.placement[producer.index])
                                         : problem.home(value);
  if (producer.valid()) changes.push_back({plan.start[producer.index], bytes, home});
  if (producer.valid() && !last_in.empty()) changes.push_back({last_anywhere, -bytes, home});
  for (const auto& [memory, last] : last_in) {
    if (producer.valid() && memory == home) continue;
    const Duration sent = producer.valid() ? plan.finish[producer.index] : Duration{0};
    changes.push_back({sent, bytes, memory});
    if (!weight) changes.push_back({last, -bytes, memory});
  }
}

bool everything_fits_everywhere(const Problem& problem) {
  if (!problem.has_memory_limits()) return true;
  double all = 0;
  for (const ValueId value : problem.graph.values()) {
    all += static_cast<double>(problem.graph.bytes(value));
  }
  for (const OpId op : problem.graph.ops()) {
    all += static_cast<double>(problem.graph.transient_bytes(op));
  }
  for (int32_t i = 0; i < problem.machine.memory_count(); ++i) {
    if (all > static_cast<double>(problem.memory_limit(MemoryId{i}))) return false;
  }
  return true;
}

std::vector<int64_t> peaks_in_rehearsal(const Problem& problem, const Plan& plan,
                                        bool with_homed_weights) {
  std::vector<Change> changes;
  for (const ValueId value : problem.graph.values()) {
    if (!with_homed_weights && problem.is_homed_weight(value)) continue;
    add_changes_of(problem, plan, value, changes);
  }
  for (const OpId op : problem.graph.ops()) {
    const int64_t bytes = problem.graph.transient_bytes(op);
    if (bytes == 0) continue;
    const MemoryId memory = problem.machine.memory_of(plan.placement[op.index]);
    changes.push_back({plan.start[op.index], bytes, memory});
    changes.push_back({plan.finish[op.index], -bytes, memory});
  }
  std::sort(changes.begin(), changes.end());
  std::vector<int64_t> used(static_cast<size_t>(problem.machine.memory_count()), 0);
  std::vector<int64_t> peaks = used;
  for (const Change& change : changes) {
    const auto memory = static_cast<size_t>(change.memory.index);
    used[memory] += change.bytes;
    peaks[memory] = std::max(peaks[memory], used[memory]);
  }
  return peaks;
}

}  // namespace

int64_t bytes_over_in_rehearsal(const Problem& problem, const Plan& plan) {
  if (everything_fits_everywhere(problem)) return 0;
  const std::vector<int64_t> peaks = peaks_in_rehearsal(problem, plan, /*with_homed_weights=*/true);
  int64_t over = 0;
  for (size_t i = 0; i < peaks.size(); ++i) {
    const int64_t limit = problem.memory_limit(MemoryId{static_cast<int32_t>(i)});
    if (limit != kUnlimitedBytes) over = std::max(over, peaks[i] - limit);
  }
  return over;
}

std::vector<int64_t> peaks_beside_homed_weights(const Problem& problem, const Plan& plan) {
  return peaks_in_rehearsal(problem, plan, /*with_homed_weights=*/false);
}

Result<Plan> plan_with_room(const Problem& problem, const Stop& stop,
                            const PlanInShare& plan_in_share) {
  std::optional<Plan> best;
  int64_t best_over = 0;
  // True if there is no need to look further.
  const auto offer = [&](Plan plan) {
    const int64_t over = bytes_over_in_rehearsal(problem, plan);
    if (!best || over < best_over) {
      best = std::move(plan);
      best_over = over;
    }
    return over == 0;
  };
  for (const double share : kShares) {
    std::optional<Plan> plan = plan_in_share(share);
    if (!plan) break;  // with less memory it would fare no better
    if (offer(std::move(*plan))) return std::move(*best);
  }
  std::optional<Error> refusal;
  for (const Prefer prefer : {Prefer::earliest_finish, Prefer::most_room}) {
    for (const double share : kShares) {
      Result<Plan> plan = plan_depth_first(problem, stop, prefer, share);
      if (!plan && !refusal) refusal = plan.error();
      if (!plan) break;
      if (offer(std::move(*plan))) return std::move(*best);
    }
  }
  if (best) return std::move(*best);
  return *refusal;
}

}  // namespace tutti
