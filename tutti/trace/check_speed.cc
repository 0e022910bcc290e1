#include <algorithm>

#include "tutti/plan/bound.h"
#include "tutti/trace/check_rules.h"

namespace tutti::trace_rules {
namespace {

void check_op_speeds(const Case& trial, Verdict& verdict) {
  for (const OpSpan& span : trial.trace.ops) {
    if (verdict.full()) return;
    if (!trial.problem.costs.can_run(span.op, span.device)) continue;
    const Duration cost = trial.problem.costs.run_time(span.op, span.device);
    if (span.finish - span.start >= cost / kQuickestOp) continue;
    verdict.add(
        "op '{}' ran for {} ns on '{}', less than a {}th of the {} ns that it costs: no real "
        "device "
        "did that, or the costs are of another machine",
        trial.problem.graph.op_name(span.op), (span.finish - span.start).count(),
        trial.problem.machine.device(span.device).name, kQuickestOp, cost.count());
  }
}

// Of the bytes alone: a latency may be much shorter than assumed.
void check_transfer_speeds(const Case& trial, Verdict& verdict) {
  for (const TransferSpan& span : trial.trace.transfers) {
    if (verdict.full()) return;
    const Hop* hop = hop_of(trial.problem.machine, span);
    if (hop == nullptr) continue;
    const auto bytes = static_cast<double>(trial.problem.graph.bytes(span.value));
    const double least_ns = bytes * hop->ns_per_byte / static_cast<double>(kQuickestOp);
    const auto lasted = static_cast<double>((span.finish - span.start).count());
    if (lasted + 1 >= least_ns) continue;
    verdict.add(
        "hop {} of the transfer of '{}' to '{}' moved {:.0f} bytes in {:.0f} ns, more than {} "
        "times "
        "the speed of its link: no real link did that, or the machine is another",
        span.hop, trial.problem.graph.value_name(span.value),
        trial.problem.machine.memory(span.to).name, bytes, lasted, kQuickestOp);
  }
}

}  // namespace

void check_speed(const Case& trial, Verdict& verdict) {
  if (!trial.rules.doubted) {
    return verdict.set_aside("speed", "the run is judged by the process that measured it");
  }
  if (is_of_files(trial.trace)) {
    return verdict.set_aside("speed", "how long commands take is a guess of whoever wrote them");
  }
  verdict.begin("speed");
  check_op_speeds(trial, verdict);
  check_transfer_speeds(trial, verdict);
  const Duration bound = lower_bounds(trial.problem).strongest();
  if (trial.trace.makespan >= bound / kQuickestRun) return;
  verdict.add(
      "the makespan is {} ns, less than a {}th of the lower bound of {} ns: no real machine did "
      "that, or the costs are of another",
      trial.trace.makespan.count(), kQuickestRun, bound.count());
}

}  // namespace tutti::trace_rules
