#include "tutti/search/explain.h"

#include <fmt/format.h>

#include <algorithm>

#include "tutti/runtime/sim/sim.h"
#include "tutti/trace/critical_path.h"

namespace tutti {
namespace {

// The value that a transfer brought or an op made, as the sentence about an op that waited for it.
std::string data_came(const Problem& problem, const Trace& trace, const OpSpan& span,
                      const Decision& decision) {
  const Graph& graph = problem.graph;
  if (!decision.by_op) {
    const ValueId value = trace.transfers[decision.span].value;
    const OpId producer = graph.producer(value);
    if (!producer.valid()) {
      return fmt::format("the graph input '{}' arrived then from memory '{}'",
                         graph.value_name(value), problem.machine.memory(problem.home(value)).name);
    }
    const auto made = std::find_if(trace.ops.begin(), trace.ops.end(),
                                   [&](const OpSpan& other) { return other.op == producer; });
    return fmt::format("the value of '{}' arrived then, {} after it was made",
                       graph.op_name(producer), to_text(span.start - made->finish));
  }
  const OpSpan& made = trace.ops[decision.span];
  if (made.finish == span.start) {
    return fmt::format("'{}' ended then, on the same memory", graph.op_name(made.op));
  }
  return fmt::format("the value of '{}' arrived then, {} after it was made", graph.op_name(made.op),
                     to_text(span.start - made.finish));
}

std::string why_then(const Problem& problem, const Trace& trace, int32_t op_span) {
  const OpSpan& span = trace.ops[op_span];
  const Decision decision = what_decided(problem, trace, op_span);
  if (span.start.count() == 0) return "it is ready at the start of the run";
  if (decision.cause == Cause::data) return data_came(problem, trace, span, decision);
  const std::string ready =
      fmt::format("its operands were there at {}, and ", to_text(decision.ready));
  if (decision.cause == Cause::slot) {
    return ready + fmt::format("'{}' held the device until then",
                               problem.graph.op_name(trace.ops[decision.span].op));
  }
  if (decision.cause == Cause::memory && decision.by_op) {
    return ready + fmt::format("there was no room until '{}' ended",
                               problem.graph.op_name(trace.ops[decision.span].op));
  }
  return ready + "it waited for room or for its turn";
}

std::string obstacle(const Problem& problem, OpId op, DeviceId device) {
  if (!problem.costs.can_run(op, device)) return "the device cannot run this kind of op";
  if (!problem.allows(op, device)) return "the constraints keep it away";
  return "";
}

}  // namespace

Result<Explanation> explain(const Problem& problem, const Plan& plan, OpId op,
                            const SearchModel& model) {
  // The run that is explained and those it is compared with are of the same scenario.
  ScenarioSimulator simulator(problem, model.model, model.order);
  const uint64_t seed = model.scenarios.seed;
  SimRuntime runtime(model.model,
                     {.order = model.order, .seed = seed, .sample = problem.costs.has_noise()});
  const Result<Trace> trace = runtime.run(problem, plan);
  if (!trace) return trace.error();
  const auto found = std::find_if(trace->ops.begin(), trace->ops.end(),
                                  [&](const OpSpan& span) { return span.op == op; });
  const auto at = static_cast<int32_t>(found - trace->ops.begin());
  Explanation explanation{.op = op, .start = found->start, .finish = found->finish};
  if (simulator.depends_on_seed()) explanation.scenario = seed;
  explanation.because = why_then(problem, *trace, at);
  for (const PathStep& step : critical_path_of_run(problem, *trace).steps) {
    if (step.is_op && step.span == at) explanation.critical = true;
  }

  const int group = problem.colocation_group(op);
  Plan changed = plan;
  changed.strict_order.clear();  // an order per device means nothing once an op has left
  for (const DeviceId device : problem.machine.devices()) {
    Alternative alternative{.device = device,
                            .chosen = plan.placement[op.index] == device,
                            .obstacle = obstacle(problem, op, device)};
    if (problem.costs.can_run(op, device)) {
      alternative.run_time = problem.costs.run_time(op, device);
    }
    if (alternative.chosen) {
      alternative.makespan = trace->makespan;
    } else if (alternative.obstacle.empty()) {
      changed.placement = plan.placement;
      changed.placement[op.index] = device;
      for (const OpId member : group < 0 ? std::span<const OpId>() : problem.members(group)) {
        changed.placement[member.index] = device;
      }
      const Result<Duration> makespan = simulator.makespan(changed, seed);
      if (makespan) {
        alternative.makespan = *makespan;
      } else {
        alternative.obstacle = makespan.error().message;
      }
    }
    explanation.alternatives.push_back(std::move(alternative));
  }
  return explanation;
}

}  // namespace tutti
