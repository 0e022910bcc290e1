#include <algorithm>
#include <optional>

#include "tutti/trace/check_rules.h"
#include "tutti/trace/free_times.h"

namespace tutti::trace_rules {
namespace {

// By device: when it had a slot that no placed op claimed. From the time it is placed until it
// finishes, an op claims a slot of its device. A pause claims all slots of all devices.
std::vector<FreeTimes> unclaimed_slots(const Case& trial, const LeastUses& memories) {
  const Machine& machine = trial.problem.machine;
  std::vector<Interval> paused;
  for (const Pause& pause : trial.trace.pauses) paused.push_back({pause.start, pause.finish});
  paused = busy_intervals(paused, /*level=*/1);
  std::vector<std::vector<Interval>> claims(static_cast<size_t>(machine.size()));
  for (const OpSpan& span : trial.trace.ops) {
    claims[span.device.index].push_back({trial.presence.placed(span.op), span.finish});
  }
  std::vector<FreeTimes> unclaimed;
  for (const DeviceId device : machine.devices()) {
    const std::vector<Interval> claimed =
        busy_intervals(claims[device.index], machine.device(device).slots);
    unclaimed.emplace_back(gaps_between(unite(claimed, paused)),
                           memories.of(machine.memory_of(device)));
  }
  return unclaimed;
}

// From when an online policy could decide about the op: all of its operands were made.
Duration decidable(const Case& trial, OpId op) {
  Duration time{0};
  for (const EdgeId edge : trial.problem.graph.edges(op)) {
    const OpId producer = trial.problem.graph.edge_from(edge);
    if (producer.valid()) time = std::max(time, trial.presence.span(producer)->finish);
  }
  return time;
}

}  // namespace

void check_unplaced_ops(const Case& trial, const LeastUses& memories, Verdict& verdict) {
  verdict.begin("unplaced ops");
  if (!trial.presence.online()) return;
  const Problem& problem = trial.problem;
  const std::vector<FreeTimes> unclaimed = unclaimed_slots(trial, memories);
  for (const OpSpan& span : trial.trace.ops) {
    if (verdict.full()) return;
    const Interval waiting{decidable(trial, span.op), trial.presence.placed(span.op)};
    if (waiting.start >= waiting.finish) continue;
    const int64_t need = bytes_at_start(problem.graph, span.op);
    for (const DeviceId device : problem.devices_for(span.op)) {
      // The first op of a colocation group that is placed leaves the others no choice.
      if (problem.colocation_group(span.op) >= 0 && device != span.device) continue;
      const int64_t limit = problem.memory_limit(problem.machine.memory_of(device));
      const std::optional<Duration> could = unclaimed[device.index].first_in(waiting, limit - need);
      if (!could) continue;
      verdict.add(
          "op '{}' could be placed on '{}' at {} ns, but was placed at {} ns without a pause",
          problem.graph.op_name(span.op), problem.machine.device(device).name, could->count(),
          waiting.finish.count());
      break;
    }
  }
}

}  // namespace tutti::trace_rules
