#include "tutti/search/explain.h"

#include <fmt/format.h>

#include <algorithm>

#include "tutti/runtime/sim/sim.h"
#include "tutti/search/critical.h"

namespace tutti {
namespace {

// Where the last operand came from, and when it was there.
struct LastOperand {
  OpId producer{};
  Duration made{-1};
  Duration arrived{-1};
};

LastOperand last_operand(const Problem& problem, const Trace& trace, const OpSpan& span,
                         const std::vector<const OpSpan*>& spans) {
  const Graph& graph = problem.graph;
  const MemoryId memory = problem.machine.memory_of(span.device);
  LastOperand last;
  for (const EdgeId edge : graph.edges(span.op)) {
    const OpId producer = graph.edge_from(edge);
    if (!producer.valid()) continue;
    const Duration made = spans[producer.index]->finish;
    Duration arrived = made;
    for (const TransferSpan& transfer : trace.transfers) {
      if (transfer.value == graph.edge_value(edge) && transfer.to == memory) {
        arrived = std::max(arrived, transfer.finish);
      }
    }
    if (arrived > last.arrived) last = {producer, made, arrived};
  }
  return last;
}

std::string why_then(const Problem& problem, const Trace& trace, const OpSpan& span,
                     const std::vector<const OpSpan*>& spans) {
  const Graph& graph = problem.graph;
  if (span.start.count() == 0) return "it is ready at the start of the run";
  const LastOperand last = last_operand(problem, trace, span, spans);
  if (last.arrived == span.start && last.arrived == last.made) {
    return fmt::format("'{}' ended then, on the same memory", graph.op_name(last.producer));
  }
  if (last.arrived == span.start) {
    return fmt::format("the value of '{}' arrived then, {} after it was made",
                       graph.op_name(last.producer), to_text(last.arrived - last.made));
  }
  for (const OpSpan& other : trace.ops) {
    if (other.device == span.device && other.finish == span.start && other.op != span.op) {
      return fmt::format("its operands were there at {}, and '{}' held the device until then",
                         to_text(std::max(last.arrived, Duration{0})), graph.op_name(other.op));
    }
  }
  return fmt::format("its operands were there at {}, and it waited for room or for its turn",
                     to_text(std::max(last.arrived, Duration{0})));
}

std::string obstacle(const Problem& problem, OpId op, DeviceId device) {
  if (!problem.costs.can_run(op, device)) return "the device cannot run this kind of op";
  if (!problem.allows(op, device)) return "the constraints keep it away";
  return "";
}

}  // namespace

Result<Explanation> explain(const Problem& problem, const Plan& plan, OpId op,
                            const SearchModel& model) {
  SimRuntime runtime(model.model, {.order = model.order});
  const Result<Trace> trace = runtime.run(problem, plan);
  if (!trace) return trace.error();
  std::vector<const OpSpan*> spans(static_cast<size_t>(problem.graph.size()), nullptr);
  for (const OpSpan& span : trace->ops) spans[span.op.index] = &span;
  const OpSpan& span = *spans[op.index];
  Explanation explanation{.op = op, .start = span.start, .finish = span.finish};
  explanation.because = why_then(problem, *trace, span, spans);

  Judge judge(problem, model.model, model.order);
  const Result<Duration> as_planned = judge.makespan(plan, model.scenarios.seed);
  if (!as_planned) return as_planned.error();
  std::vector<OpId> path;
  critical_path_of(problem, plan, judge, path);
  explanation.critical = std::find(path.begin(), path.end(), op) != path.end();

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
      alternative.makespan = *as_planned;
    } else if (alternative.obstacle.empty()) {
      changed.placement = plan.placement;
      changed.placement[op.index] = device;
      for (const OpId member : group < 0 ? std::span<const OpId>() : problem.members(group)) {
        changed.placement[member.index] = device;
      }
      const Result<Duration> makespan = judge.makespan(changed, model.scenarios.seed);
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
