#include <algorithm>
#include <optional>

#include "tutti/trace/check_rules.h"
#include "tutti/trace/free_times.h"

namespace tutti::trace_rules {
namespace {

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

void check_waiting_ops(const Case& trial, const LeastUses& memories, Verdict& verdict) {
  verdict.begin("waiting ops");
  const Machine& machine = trial.problem.machine;
  const std::vector<OpId> before = strict_predecessors(trial);
  const auto spans = spans_by_device(trial);
  for (const DeviceId device : machine.devices()) {
    const MemoryId memory = machine.memory_of(device);
    std::vector<Interval> busy;
    for (const OpSpan* span : spans[device.index]) busy.push_back({span->start, span->finish});
    const int slot_count = trial.rules.released ? 1 : machine.device(device).slots;
    const FreeTimes slots(gaps_between(busy_intervals(busy, slot_count)), memories.of(memory));
    for (const OpSpan* span : spans[device.index]) {
      if (verdict.full()) return;
      Duration ready = trial.presence.ready(span->op);
      if (!before.empty() && before[span->op.index].valid()) {
        ready = std::max(ready, trial.presence.span(before[span->op.index])->start);
      }
      const int64_t need = bytes_at_start(trial.problem.graph, span->op);
      const std::optional<Duration> could =
          slots.first_in({ready, span->start}, trial.problem.memory_limit(memory) - need);
      if (could) add_waiting_op(trial, *span, *could, verdict);
    }
  }
}

void check_first_come(const Case& trial, Verdict& verdict) {
  verdict.begin("ready order");
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

}  // namespace tutti::trace_rules
