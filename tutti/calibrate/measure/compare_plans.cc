#include "tutti/calibrate/measure/compare_plans.h"

#include "tutti/kernels/inputs.h"
#include "tutti/runtime/sim/sim.h"
#include "tutti/trace/check.h"

namespace tutti {
namespace {

MeasuredPlan row_of(const Problem& problem, const PlanToRun& plan) {
  MeasuredPlan row{.name = plan.name,
                   .scheduler = plan.scheduler,
                   .bulk_synchronous = plan.bulk_synchronous,
                   .plan_seconds = plan.plan_seconds};
  if (plan.bulk_synchronous || !plan.scheduler.empty()) return row;
  const Result<Trace> simulated = SimRuntime().run(problem, plan.plan);
  if (simulated) row.predicted_ns = static_cast<double>(simulated->makespan.count());
  return row;
}

}  // namespace

std::vector<MeasuredPlan> compare_plans(const Problem& problem, std::span<const PlanToRun> plans,
                                        const RunPlan& run, const Turns& turns) {
  std::vector<MeasuredPlan> rows;
  for (const PlanToRun& plan : plans) rows.push_back(row_of(problem, plan));
  measure_in_turns(rows.size(), turns, [&](const Turn& turn) {
    MeasuredPlan& row = rows[turn.row];
    if (row.error) return true;
    const Result<PlanRun> done = run(plans[turn.row], turn);
    if (!done) {
      if (!turns.stop.now()) row.error = done.error();
      return true;
    }
    row.misplaced += done->misplaced;
    if (done->results) row.results = done->results;
    if (turn.counts) row.times_ns.push_back(static_cast<double>(done->makespan.count()));
    return true;
  });
  return rows;
}

Result<PlanRun> judged_run(const Problem& problem, const Trace& trace, const Plan* obeyed) {
  const auto faults = check_trace(problem, trace, rules_for(trace, obeyed));
  if (!faults.empty()) return failed("the run does not pass the check: " + faults[0]);
  PlanRun run{.makespan = trace.makespan};
  for (const OpSpan& span : trace.ops) {
    run.misplaced +=
        obeyed != nullptr && span.device != obeyed->placement[static_cast<size_t>(span.op.index)];
  }
  return run;
}

RunPlan run_on(LocalRuntime& runtime, const Problem& problem, uint64_t seed, const Stop& stop) {
  return [&runtime, &problem, seed, stop](const PlanToRun& plan,
                                          const Turn& /*turn*/) -> Result<PlanRun> {
    LocalOptions options;
    options.bulk_synchronous = plan.bulk_synchronous;
    options.keep_inputs = true;
    options.stop = stop;
    options.input = [&problem, seed](ValueId value, const Block& block) {
      fill_input(problem.graph, value, seed, block);
    };
    runtime.set_options(options);
    const Result<Trace> trace = runtime.run(problem, plan.plan);
    if (!trace) return trace.error();
    return judged_run(problem, *trace, &plan.plan);
  };
}

}  // namespace tutti
