#include <algorithm>

#include "tutti/base/fingerprint.h"
#include "tutti/trace/check/rules.h"

namespace tutti::trace_rules {
namespace {

template <class IdType>
bool exists(IdType id, int32_t count) {
  return id.valid() && id.index < count;
}

void check_op_spans(const Problem& problem, const Trace& trace, Verdict& verdict) {
  const Graph& graph = problem.graph;
  std::vector<int32_t> runs(static_cast<size_t>(graph.size()), 0);
  for (const OpSpan& span : trace.ops) {
    if (!exists(span.op, graph.size())) {
      verdict.add("a span names op {}, but the graph has {} ops", span.op.index, graph.size());
      continue;
    }
    const std::string_view name = graph.op_name(span.op);
    if (++runs[span.op.index] == 2) verdict.add("op '{}' ran twice", name);
    if (!exists(span.device, problem.machine.size())) {
      verdict.add("op '{}' ran on device {}, but the machine has {} devices", name,
                  span.device.index, problem.machine.size());
      continue;
    }
    const Device& device = problem.machine.device(span.device);
    if (span.slot < 0 || span.slot >= device.slots) {
      verdict.add("op '{}' ran in slot {} of '{}', which has {} slots", name, span.slot,
                  device.name, device.slots);
    }
    if (span.start < Duration{0}) {
      verdict.add("op '{}' started at {} ns, before the run", name, span.start.count());
    }
    if (span.finish < span.start || span.finish > kNever) {
      verdict.add("op '{}' ran from {} ns to {} ns, which is no span of time", name,
                  span.start.count(), span.finish.count());
    }
  }
  for (const OpId op : graph.ops()) {
    if (runs[op.index] == 0) verdict.add("op '{}' never ran", graph.op_name(op));
    if (verdict.full()) return;
  }
}

void check_transfer_spans(const Problem& problem, const Trace& trace, Verdict& verdict) {
  const int32_t memories = problem.machine.memory_count();
  for (const TransferSpan& span : trace.transfers) {
    if (!exists(span.value, problem.graph.value_count()) || !exists(span.from, memories) ||
        !exists(span.to, memories)) {
      verdict.add("a transfer of value {} from memory {} to {} names what does not exist",
                  span.value.index, span.from.index, span.to.index);
    } else if (span.start < Duration{0} || span.finish < span.start || span.finish > kNever) {
      verdict.add("the transfer of '{}' to '{}' runs from {} ns to {} ns, which is no span of time",
                  problem.graph.value_name(span.value), problem.machine.memory(span.to).name,
                  span.start.count(), span.finish.count());
    }
    if (verdict.full()) return;
  }
}

void check_placed(const Problem& problem, const Trace& trace, Verdict& verdict) {
  std::vector<char> placed(static_cast<size_t>(problem.graph.size()), 0);
  for (const PlacedAt& entry : trace.placed) {
    if (!exists(entry.op, problem.graph.size())) {
      verdict.add("the trace says that op {} was placed, but the graph has {} ops", entry.op.index,
                  problem.graph.size());
      continue;
    }
    if (placed[entry.op.index]) {
      verdict.add("op '{}' was placed twice", problem.graph.op_name(entry.op));
    }
    if (entry.time < Duration{0}) {
      verdict.add("op '{}' was placed at {} ns, before the run", problem.graph.op_name(entry.op),
                  entry.time.count());
    }
    placed[entry.op.index] = 1;
  }
  if (trace.placed.empty()) return;
  for (const OpId op : problem.graph.ops()) {
    if (!placed[op.index])
      verdict.add("op '{}' ran but was never placed", problem.graph.op_name(op));
    if (verdict.full()) return;
  }
}

void check_no_time_passed(const Trace& trace, Verdict& verdict) {
  Duration last = trace.makespan;
  for (const OpSpan& span : trace.ops) last = std::max(last, span.finish);
  for (const TransferSpan& span : trace.transfers) last = std::max(last, span.finish);
  for (const PlacedAt& placed : trace.placed) last = std::max(last, placed.time);
  if (last <= Duration{0}) return;
  verdict.add("a run of the null runtime takes no time, but this one lasted until {} ns",
              last.count());
}

void check_plan_shape(const Problem& problem, const Plan& plan, Verdict& verdict) {
  if (plan.placement.size() != static_cast<size_t>(problem.graph.size())) {
    verdict.add("the plan places {} ops, but the graph has {}", plan.placement.size(),
                problem.graph.size());
  }
  if (plan.priority.size() != plan.placement.size()) {
    verdict.add("the plan gives {} priorities to {} ops", plan.priority.size(),
                plan.placement.size());
  }
  if (plan.strict_order.empty()) return;
  if (plan.strict_order.size() != static_cast<size_t>(problem.machine.size())) {
    verdict.add("the plan's strict order has {} lists, but the machine has {} devices",
                plan.strict_order.size(), problem.machine.size());
  }
  for (const std::vector<OpId>& order : plan.strict_order) {
    for (const OpId op : order) {
      if (exists(op, problem.graph.size())) continue;
      verdict.add("the plan's strict order names op {}, but the graph has {} ops", op.index,
                  problem.graph.size());
    }
  }
}

}  // namespace

void check_shape(const Problem& problem, const Trace& trace, const TraceRules& rules,
                 Verdict& verdict) {
  verdict.begin("identity");
  if (trace.graph_fingerprint != problem.graph.fingerprint()) {
    return verdict.add("the trace is of another graph ({}, not {})",
                       fingerprint_text(trace.graph_fingerprint),
                       fingerprint_text(problem.graph.fingerprint()));
  }
  if (trace.machine_fingerprint != problem.machine.fingerprint()) {
    return verdict.add("the trace is of another machine ({}, not {})",
                       fingerprint_text(trace.machine_fingerprint),
                       fingerprint_text(problem.machine.fingerprint()));
  }
  verdict.begin("shape");
  check_op_spans(problem, trace, verdict);
  check_transfer_spans(problem, trace, verdict);
  check_placed(problem, trace, verdict);
  for (const Pause& pause : trace.pauses) {
    if (pause.start >= Duration{0} && pause.finish >= pause.start) continue;
    verdict.add("a pause lasts from {} ns to {} ns, which is no span of time", pause.start.count(),
                pause.finish.count());
  }
  if (rules.plan != nullptr) check_plan_shape(problem, *rules.plan, verdict);
  verdict.begin("records");
  if (rules.timeless) check_no_time_passed(trace, verdict);
  if (rules.released && !trace.transfers.empty()) {
    verdict.add("the released model records no transfers, but the trace has {}",
                trace.transfers.size());
  }
  if (rules.released && !trace.placed.empty()) {
    verdict.add("the released model runs plans alone, but the trace records when ops were placed");
  }
  if (is_of_files(trace) && !trace.transfers.empty()) {
    verdict.add("the values are files, which are not transferred, but the trace has {} transfers",
                trace.transfers.size());
  }
}

}  // namespace tutti::trace_rules
