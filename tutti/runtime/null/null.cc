#include "tutti/runtime/null/null.h"

#include <set>
#include <utility>

#include "tutti/plan/draft.h"

namespace tutti {
namespace {

// The spans of one op: the copies of its operands that its memory lacks, then the op itself.
void record(const Problem& problem, const std::vector<DeviceId>& placement, OpId op,
            const WeightKeeping& weights, std::set<std::pair<ValueId, MemoryId>>& copied,
            Trace& trace) {
  const MemoryId to = problem.machine.memory_of(placement[op.index]);
  for (const EdgeId edge : problem.graph.edges(op)) {
    const ValueId value = problem.graph.edge_value(edge);
    const OpId producer = problem.graph.producer(value);
    const MemoryId from = producer.valid() ? problem.machine.memory_of(placement[producer.index])
                                           : problem.home(value);
    const bool kept = weights.stated() && problem.is_homed_weight(value) && from != to &&
                      weights.keeps(value, to) && !problem.cold();
    if (kept) continue;
    if (!from.valid() || from == to || !copied.emplace(value, to).second) continue;
    const bool given =
        producer.valid() &&
        problem.costs.given_transfer(edge, placement[producer.index], placement[op.index]);
    const auto hops = given ? 1 : static_cast<int>(problem.machine.route(from, to)->hops.size());
    for (int hop = 0; hop < hops; ++hop) {
      trace.transfers.push_back(
          {.value = value, .from = from, .to = to, .hop = hop, .given = given});
    }
  }
  trace.ops.push_back({.op = op, .device = placement[op.index]});
}

Trace empty_trace(const Problem& problem) {
  Trace trace;
  trace.runtime = {.name = "null"};
  trace.graph_fingerprint = problem.graph.fingerprint();
  trace.machine_fingerprint = problem.machine.fingerprint();
  return trace;
}

}  // namespace

Result<Trace> NullRuntime::run(const Problem& problem, const Plan& plan) {
  Trace trace = empty_trace(problem);
  trace.weights = plan.weights;
  std::set<std::pair<ValueId, MemoryId>> copied;
  for (const OpId op : problem.graph.topological_order()) {
    record(problem, plan.placement, op, plan.weights, copied, trace);
  }
  return trace;
}

Result<Trace> NullRuntime::run_online(const Problem& problem, Policy& policy) {
  Trace trace = empty_trace(problem);
  std::set<std::pair<ValueId, MemoryId>> copied;
  std::vector<DeviceId> placement(static_cast<size_t>(problem.graph.size()));
  Draft draft(problem);
  while (!draft.complete()) {
    const std::optional<OpId> op = policy.select->select(draft);
    if (!op) return failed("the policy chose to wait with nothing running: the run cannot go on");
    if (draft.devices_for(*op).empty()) return infeasible("memory leaves an op without a device");
    placement[op->index] = policy.place->place(draft, *op);
    draft.apply(*op, placement[op->index]);
    trace.placed.push_back({.op = *op});
    record(problem, placement, *op, {}, copied, trace);
  }
  return trace;
}

}  // namespace tutti
