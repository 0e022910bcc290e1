#include <algorithm>
#include <limits>
#include <optional>

#include "tutti/trace/check_rules.h"

namespace tutti::trace_rules {
namespace {

// When a device had a free slot, and how little its memory held meanwhile.
class FreeSlots {
 public:
  // `memory` is null where no limit is enforced.
  FreeSlots(std::span<const Interval> spans, int slots, const LeastUse* memory)
      : free_(gaps_between(busy_intervals(spans, slots))), memory_(memory), least_(least()) {}

  bool is_free_during(Interval window) const { return first_overlap(free_, window).has_value(); }

  // The least bytes in use at any time of `window` at which a slot was free; the largest number if
  // none was. Requires a memory.
  int64_t least_use_during(Interval window) const {
    const auto first = std::upper_bound(
        free_.begin(), free_.end(), window.start,
        [](Duration time, const Interval& interval) { return time < interval.finish; });
    const auto end = std::lower_bound(
        first, free_.end(), window.finish,
        [](const Interval& interval, Duration time) { return interval.start < time; });
    if (first == end) return std::numeric_limits<int64_t>::max();
    // The first and the last may stick out of the window; those between lie inside.
    const int64_t at_front = memory_->during(clip(*first, window));
    const int64_t at_back = memory_->during(clip(*(end - 1), window));
    const auto inside = least_.over(static_cast<size_t>(first - free_.begin()) + 1,
                                    static_cast<size_t>(end - free_.begin()) - 1);
    return std::min(std::min(at_front, at_back), inside);
  }

 private:
  static Interval clip(Interval interval, Interval window) {
    return {std::max(interval.start, window.start), std::min(interval.finish, window.finish)};
  }

  LeastOf least() const {
    std::vector<int64_t> least;
    if (memory_ != nullptr) {
      for (const Interval& interval : free_) least.push_back(memory_->during(interval));
    }
    return LeastOf(least);
  }

  std::vector<Interval> free_;
  const LeastUse* memory_;
  LeastOf least_;  // by interval of free_
};

// By op: the op that a strict order makes it wait for; empty without one.
std::vector<OpId> strict_predecessors(const Case& trial) {
  std::vector<OpId> before;
  const Plan* plan = trial.rules.plan;
  if (plan == nullptr || plan->strict_order.empty()) return before;
  before.resize(static_cast<size_t>(trial.problem.graph.size()));
  for (const std::vector<OpId>& order : plan->strict_order) {
    for (size_t i = 1; i < order.size(); ++i) before[order[i].index] = order[i - 1];
  }
  return before;
}

std::vector<std::vector<const OpSpan*>> spans_by_device(const Case& trial) {
  std::vector<std::vector<const OpSpan*>> spans(static_cast<size_t>(trial.problem.machine.size()));
  for (const OpSpan& span : trial.trace.ops) spans[span.device.index].push_back(&span);
  return spans;
}

void add_waiting_op(const Case& trial, const OpSpan& span, Duration could, Verdict& verdict) {
  verdict.add(
      "op '{}' could start on '{}' from {} ns on, where a slot was free, but started at {} ns",
      trial.problem.graph.op_name(span.op), trial.problem.machine.device(span.device).name,
      could.count(), span.start.count());
}

}  // namespace

void check_waiting_ops(const Case& trial, const std::vector<MemoryUse>& memories,
                       Verdict& verdict) {
  const Machine& machine = trial.problem.machine;
  const std::vector<OpId> before = strict_predecessors(trial);
  const auto spans = spans_by_device(trial);
  std::vector<std::optional<LeastUse>> least_use(memories.size());
  for (const DeviceId device : machine.devices()) {
    const MemoryId memory = machine.memory_of(device);
    const int64_t limit = trial.problem.memory_limit(memory);
    const bool limited = !memories.empty() && limit != kUnlimitedBytes;
    if (limited && !least_use[memory.index])
      least_use[memory.index].emplace(memories[memory.index]);
    std::vector<Interval> busy;
    for (const OpSpan* span : spans[device.index]) busy.push_back({span->start, span->finish});
    const int slot_count = trial.rules.released ? 1 : machine.device(device).slots;
    const FreeSlots slots(busy, slot_count, limited ? &*least_use[memory.index] : nullptr);
    for (const OpSpan* span : spans[device.index]) {
      if (verdict.full()) return;
      Duration could = trial.presence.ready(span->op);
      if (!before.empty() && before[span->op.index].valid()) {
        could = std::max(could, trial.presence.span(before[span->op.index])->start);
      }
      if (could >= span->start) continue;
      const Interval waiting{could, span->start};
      if (!slots.is_free_during(waiting)) continue;
      const int64_t need = bytes_at_start(trial.problem.graph, span->op);
      if (limited && slots.least_use_during(waiting) > limit - need) continue;
      add_waiting_op(trial, *span, could, verdict);
    }
  }
}

void check_first_come(const Case& trial, Verdict& verdict) {
  for (std::vector<const OpSpan*>& spans : spans_by_device(trial)) {
    std::sort(spans.begin(), spans.end(),
              [](const OpSpan* a, const OpSpan* b) { return a->start < b->start; });
    // The op that became ready last among those that started strictly earlier, and among those
    // that started together with the one at hand.
    const OpSpan* earlier = nullptr;
    const OpSpan* together = nullptr;
    const auto ready = [&](const OpSpan* span) { return trial.presence.ready(span->op); };
    for (const OpSpan* span : spans) {
      if (together != nullptr && together->start < span->start) {
        if (earlier == nullptr || ready(earlier) < ready(together)) earlier = together;
        together = nullptr;
      }
      if (earlier != nullptr && ready(span) < ready(earlier)) {
        verdict.add("on '{}' op '{}' was ready at {} ns, before '{}', but started after it",
                    trial.problem.machine.device(span->device).name,
                    trial.problem.graph.op_name(span->op), ready(span).count(),
                    trial.problem.graph.op_name(earlier->op));
        break;
      }
      if (together == nullptr || ready(together) < ready(span)) together = span;
    }
  }
}

void check_unplaced_ops(const Case& trial, Verdict& verdict) {
  if (!trial.presence.online()) return;
  const Problem& problem = trial.problem;
  // From the time it is placed until it finishes, an op claims a slot of its device. A pause
  // claims all slots of all devices.
  std::vector<Interval> paused;
  for (const Pause& pause : trial.trace.pauses) paused.push_back({pause.start, pause.finish});
  paused = busy_intervals(paused, /*level=*/1);
  std::vector<std::vector<Interval>> claims(static_cast<size_t>(problem.machine.size()));
  for (const OpSpan& span : trial.trace.ops) {
    claims[span.device.index].push_back({trial.presence.placed(span.op), span.finish});
  }
  for (const DeviceId device : problem.machine.devices()) {
    const std::vector<Interval> claimed =
        busy_intervals(claims[device.index], problem.machine.device(device).slots);
    claims[device.index] = gaps_between(unite(claimed, paused));
  }
  const std::vector<std::vector<Interval>>& unclaimed = claims;

  for (const OpSpan& span : trial.trace.ops) {
    if (verdict.full()) return;
    Duration decidable{0};
    for (const EdgeId edge : problem.graph.edges(span.op)) {
      const OpId producer = problem.graph.edge_from(edge);
      if (!producer.valid()) continue;
      decidable = std::max(decidable, trial.presence.span(producer)->finish);
    }
    const Interval waiting{decidable, trial.presence.placed(span.op)};
    if (waiting.start >= waiting.finish) continue;
    for (const DeviceId device : problem.devices_for(span.op)) {
      // The first op of a colocation group that is placed leaves the others no choice.
      if (problem.colocation_group(span.op) >= 0 && device != span.device) continue;
      const std::optional<Interval> wasted = first_overlap(unclaimed[device.index], waiting);
      if (!wasted) continue;
      verdict.add(
          "op '{}' could be placed on '{}' at {} ns, but was placed at {} ns without a pause",
          problem.graph.op_name(span.op), problem.machine.device(device).name,
          wasted->start.count(), waiting.finish.count());
      break;
    }
  }
}

}  // namespace tutti::trace_rules
