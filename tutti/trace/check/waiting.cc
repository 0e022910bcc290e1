// Work conservation: nothing waited for what was free.

#include <algorithm>
#include <optional>
#include <tuple>

#include "tutti/trace/check/free_times.h"
#include "tutti/trace/check/rules.h"

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

// One hop that started later than it could.
struct Waiting {
  const TransferSpan* span;
  const Hop* hop;  // null: given, so that it needs no channel
  Interval time;
};

std::vector<Waiting> find_waiting(const Case& trial) {
  std::vector<Waiting> waiting;
  std::vector<Readers> readers;
  for (const ValueId value : trial.problem.graph.values()) {
    if (trial.presence.transfers(value).empty()) continue;
    trial.presence.find_readers(value, readers);
    for (const Transfer& transfer : trial.presence.transfers(value)) {
      Duration could = trial.presence.arrival(value, transfer.from);
      if (const Readers* there = find_in(readers, transfer.to)) {
        could = std::max(could, there->first_placed);
      }
      for (const int32_t index : transfer.spans) {
        const TransferSpan& span = trial.trace.transfers[index];
        const Hop* hop = hop_of(trial.problem.machine, span);
        // A stream waits for its turn and for the stream buffer.
        const bool stream = span.hop == 0 && trial.presence.is_set_aside(value) &&
                            !trial.presence.keeps(value, span.to);
        const bool known = (hop != nullptr || span.given) && !stream;
        if (known && could < span.start) waiting.push_back({&span, hop, {could, span.start}});
        could = span.finish;
      }
    }
  }
  return waiting;
}

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

void check_waiting_hops(const Case& trial, FullTimes& full_times, const LeastUses& memories,
                        Verdict& verdict) {
  verdict.begin("waiting hops");
  std::vector<Waiting> waiting = find_waiting(trial);
  // Those that wait for the same hop of the machine together, in the order of the trace.
  const auto key = [](const Waiting& one) {
    return std::tuple(one.span->given, one.span->from, one.span->to, one.span->hop, one.span);
  };
  std::sort(waiting.begin(), waiting.end(),
            [&](const Waiting& a, const Waiting& b) { return key(a) < key(b); });
  std::optional<FreeTimes> room;
  for (size_t i = 0; i < waiting.size() && !verdict.full(); ++i) {
    const Waiting& one = waiting[i];
    // Room for the copy is taken before the first hop; those that follow have it already.
    const bool needs_memory = one.span->hop == 0;
    if (i == 0 || waiting[i - 1].hop != one.hop || waiting[i - 1].span->to != one.span->to) {
      room.emplace(full_times.room_on(one.hop), needs_memory ? memories.of(one.span->to) : nullptr);
    }
    const int64_t limit = trial.problem.memory_limit(one.span->to);
    const std::optional<Duration> could =
        room->first_in(one.time, limit - trial.problem.graph.bytes(one.span->value));
    if (!could) continue;
    verdict.add(
        "hop {} of the transfer of '{}' to '{}' could start at {} ns, when its channels had room, "
        "but started at {} ns",
        one.span->hop, trial.problem.graph.value_name(one.span->value),
        trial.problem.machine.memory(one.span->to).name, could->count(), one.span->start.count());
  }
}

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
