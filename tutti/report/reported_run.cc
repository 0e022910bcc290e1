#include <fmt/format.h>

#include <algorithm>

#include "tutti/plan/intervals.h"
#include "tutti/report/page.h"

namespace tutti {
namespace {

Error about_op(const Problem& problem, const std::string& name, OpId op, const char* what) {
  return invalid_input(fmt::format("{}: op '{}' {}", name, problem.graph.op_name(op), what));
}

Result<void> check_spans(const Problem& problem, const std::string& name, const Trace& trace) {
  for (const OpSpan& span : trace.ops) {
    if (span.finish < span.start) {
      return about_op(problem, name, span.op, "finishes before it starts");
    }
    if (span.slot < 0 || span.slot >= problem.machine.device(span.device).slots) {
      return about_op(problem, name, span.op, "runs on a slot that its device does not have");
    }
  }
  for (const TransferSpan& span : trace.transfers) {
    if (span.finish >= span.start) continue;
    return invalid_input(fmt::format("{}: a transfer of '{}' finishes before it starts", name,
                                     problem.graph.value_name(span.value)));
  }
  return {};
}

// A slot for each op of a plan, as few as can be on each device.
Result<void> assign_slots(const Problem& problem, const std::string& name, Trace& trace) {
  std::vector<std::vector<size_t>> by_device(static_cast<size_t>(problem.machine.size()));
  for (size_t i = 0; i < trace.ops.size(); ++i) by_device[trace.ops[i].device.index].push_back(i);
  for (const std::vector<size_t>& spans : by_device) {
    std::vector<Interval> times;
    for (const size_t i : spans) times.push_back({trace.ops[i].start, trace.ops[i].finish});
    const std::vector<int> slots = assign_lanes(times);
    for (size_t k = 0; k < spans.size(); ++k) trace.ops[spans[k]].slot = slots[k];
  }
  return check_spans(problem, name, trace);
}

}  // namespace

Result<ReportedRun> run_of_trace(const Problem& problem, const std::string& name, Trace trace) {
  if (auto good = check_spans(problem, name, trace); !good) return good.error();
  std::string by = to_text(trace.runtime);
  return ReportedRun{.name = name, .by = std::move(by), .trace = std::move(trace)};
}

Result<ReportedRun> run_of_plan(const Problem& problem, const std::string& name, const Plan& plan) {
  ReportedRun run{.name = name, .is_plan = true, .by = plan.provenance.policy};
  run.trace.weights = plan.weights;
  if (plan.start.empty()) return run;
  for (const OpId op : problem.graph.ops()) {
    if (plan.finish[op.index] < plan.start[op.index]) {
      return about_op(problem, name, op, "finishes before it starts");
    }
    run.trace.ops.push_back({.op = op,
                             .device = plan.placement[op.index],
                             .start = plan.start[op.index],
                             .finish = plan.finish[op.index]});
    run.trace.makespan = std::max(run.trace.makespan, plan.finish[op.index]);
  }
  if (auto good = assign_slots(problem, name, run.trace); !good) return good.error();
  return run;
}

}  // namespace tutti
