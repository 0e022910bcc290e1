#include <algorithm>

#include "tutti/plan/bound.h"
#include "tutti/trace/check/rules.h"

namespace tutti::trace_rules {
namespace {

double most_flops_per_s(const Device& device) {
  if (device.kind != "cpu") return kMostFlopsPerS;
  return kMostFlopsPerSOfACore * std::max(device.units, 1);
}

void check_op_possible(const Case& trial, const OpSpan& span, Verdict& verdict) {
  const std::string_view name = trial.problem.graph.op_name(span.op);
  const Device& device = trial.problem.machine.device(span.device);
  const Duration lasted = span.finish - span.start;
  if (lasted < kLeastOpTime) {
    return verdict.add(
        "op '{}' ran for {} ns on '{}': a clock cannot be read twice in less than {} ns, so that "
        "this was not measured",
        name, lasted.count(), device.name, kLeastOpTime.count());
  }
  const double flops = trial.problem.graph.flops(span.op);
  const double rate = flops * 1e9 / static_cast<double>(lasted.count());
  if (rate <= most_flops_per_s(device)) return;
  verdict.add(
      "op '{}' did {:.3g} flops in {} ns on '{}', {:.3g} in a second: no such device exists, or "
      "the "
      "graph states the wrong work",
      name, flops, lasted.count(), device.name, rate);
}

void check_transfer_possible(const Case& trial, const TransferSpan& span, Verdict& verdict) {
  const auto bytes = static_cast<double>(trial.problem.graph.bytes(span.value));
  const auto lasted = static_cast<double>((span.finish - span.start).count());
  if ((lasted + 1) * 1e-9 * kMostBytesPerS >= bytes) return;
  verdict.add(
      "hop {} of the transfer of '{}' to '{}' moved {:.0f} bytes in {:.0f} ns: no such link exists",
      span.hop, trial.problem.graph.value_name(span.value),
      trial.problem.machine.memory(span.to).name, bytes, lasted);
}

void check_against_costs(const Case& trial, Verdict& verdict) {
  for (const OpSpan& span : trial.trace.ops) {
    if (verdict.full()) return;
    if (!trial.problem.costs.can_run(span.op, span.device)) continue;
    const Duration cost = trial.problem.costs.run_time(span.op, span.device);
    if (span.finish - span.start >= cost / kQuickestOp) continue;
    verdict.add(
        "op '{}' ran for {} ns on '{}', less than a {}th of the {} ns that were measured when its "
        "costs were",
        trial.problem.graph.op_name(span.op), (span.finish - span.start).count(),
        trial.problem.machine.device(span.device).name, kQuickestOp, cost.count());
  }
  const Duration bound = lower_bounds(trial.problem).strongest();
  if (trial.trace.makespan >= bound / kQuickestRun) return;
  verdict.add(
      "the makespan is {} ns, less than a {}th of the lower bound of {} ns by measured costs",
      trial.trace.makespan.count(), kQuickestRun, bound.count());
}

}  // namespace

void check_speed(const Case& trial, Verdict& verdict) {
  if (!trial.rules.doubted) {
    return verdict.set_aside("speed", "the run is judged by the process that measured it");
  }
  if (is_of_files(trial.trace)) {
    return verdict.set_aside("speed", "how long commands take is a guess of their author");
  }
  verdict.begin("speed");
  for (const OpSpan& span : trial.trace.ops) {
    if (!verdict.full()) check_op_possible(trial, span, verdict);
  }
  for (const TransferSpan& span : trial.trace.transfers) {
    if (!verdict.full()) check_transfer_possible(trial, span, verdict);
  }
  if (trial.rules.costs_measured) return check_against_costs(trial, verdict);
  verdict.set_aside("speed",
                    "the costs were not measured: times are held to what any device can do, not to "
                    "what this one does");
}

}  // namespace tutti::trace_rules
