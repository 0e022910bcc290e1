#include <algorithm>
#include <optional>

#include "tutti/plan/check/rules.h"
#include "tutti/plan/intervals.h"

namespace tutti::plan_rules {
namespace {

// The time that the edge's value takes to its reader, with nothing else on the links. A planner may
// count each edge by itself; a run sends the value once to each memory, and if times are given for
// edges to there, in the longest of them. Either will do.
Duration least_transfer(const Problem& problem, const Plan& plan, EdgeId edge) {
  const Graph& graph = problem.graph;
  const DeviceId from = plan.placement[graph.edge_from(edge).index];
  const DeviceId to = plan.placement[graph.edge_to(edge).index];
  const Duration alone = problem.costs.transfer_time(edge, from, to);
  if (!problem.costs.has_given_transfers()) return alone;
  Duration together{-1};
  for (const EdgeId other : graph.consumers(graph.edge_value(edge))) {
    const DeviceId reader = plan.placement[graph.edge_to(other).index];
    if (problem.machine.memory_of(reader) != problem.machine.memory_of(to)) continue;
    if (const auto given = problem.costs.given_transfer(other, from, reader)) {
      together = std::max(together, *given);
    }
  }
  return together.count() < 0 ? alone : std::min(alone, together);
}

// When the operand of an edge can be where its op is planned, with nothing else on the links.
Duration operand_arrival(const Problem& problem, const Plan& plan, EdgeId edge) {
  const Graph& graph = problem.graph;
  const DeviceId to = plan.placement[graph.edge_to(edge).index];
  const OpId producer = graph.edge_from(edge);
  if (producer.valid()) {
    return plan.finish[producer.index] + least_transfer(problem, plan, edge);
  }
  const ValueId value = graph.edge_value(edge);
  const MemoryId home = problem.home(value);
  if (!home.valid()) return Duration{0};
  const MemoryId memory = problem.machine.memory_of(to);
  const bool there = plan.weights.stated() && problem.is_homed_weight(value) && !problem.cold() &&
                     plan.weights.keeps(value, memory);
  if (there) return Duration{0};
  return problem.costs.transfer_time(value, home, memory);
}

void check_op(const Problem& problem, const Plan& plan, OpId op, Verdict& verdict) {
  const Graph& graph = problem.graph;
  const DeviceId device = plan.placement[op.index];
  const Duration start = plan.start[op.index];
  const Duration planned = plan.finish[op.index] - start;
  const Duration run_time = problem.costs.run_time(op, device);
  verdict.begin("run times");
  if (start < Duration{0}) {
    verdict.add("op '{}' is planned to start at {} ns, before the run", graph.op_name(op),
                start.count());
  }
  if (problem.costs.can_run(op, device) && planned != run_time) {
    verdict.add("op '{}' is planned to take {} ns on '{}', where its run time is {} ns",
                graph.op_name(op), planned.count(), problem.machine.device(device).name,
                run_time.count());
  }
  verdict.begin("operands");
  for (const EdgeId edge : graph.edges(op)) {
    const Duration arrival = operand_arrival(problem, plan, edge);
    if (start >= arrival) continue;
    verdict.add("op '{}' is planned to start at {} ns, but its operand '{}' arrives at {} ns",
                graph.op_name(op), start.count(), graph.value_name(graph.edge_value(edge)),
                arrival.count());
    break;
  }
}

void check_slots(const Problem& problem, const Plan& plan, Verdict& verdict) {
  verdict.begin("slots");
  std::vector<std::vector<Interval>> planned(static_cast<size_t>(problem.machine.size()));
  for (const OpId op : problem.graph.ops()) {
    planned[plan.placement[op.index].index].push_back(
        {plan.start[op.index], plan.finish[op.index]});
  }
  for (const DeviceId id : problem.machine.devices()) {
    const Device& device = problem.machine.device(id);
    const std::vector<Interval> crowded = busy_intervals(planned[id.index], device.slots + 1);
    if (crowded.empty()) continue;
    verdict.add("device '{}' is planned to run more than its {} ops at once from {} ns to {} ns",
                device.name, device.slots, crowded[0].start.count(), crowded[0].finish.count());
  }
}

// Every op is listed, once, on the device it is placed on. Then returns each op's successor in its
// list, invalid for the last.
std::optional<std::vector<OpId>> check_lists(const Problem& problem, const Plan& plan,
                                             Verdict& verdict) {
  const auto ops = static_cast<size_t>(problem.graph.size());
  std::vector<char> listed(ops, 0);
  std::vector<OpId> next(ops);
  bool good = true;
  for (const DeviceId device : problem.machine.devices()) {
    const std::vector<OpId>& order = plan.strict_order[device.index];
    for (size_t i = 0; i < order.size(); ++i) {
      const OpId op = order[i];
      good = good && plan.placement[op.index] == device && !listed[op.index];
      if (plan.placement[op.index] != device) {
        verdict.add("the strict order of '{}' lists op '{}', which is placed on '{}'",
                    problem.machine.device(device).name, problem.graph.op_name(op),
                    problem.machine.device(plan.placement[op.index]).name);
      }
      if (listed[op.index]) {
        verdict.add("the strict order lists op '{}' twice", problem.graph.op_name(op));
      }
      listed[op.index] = 1;
      if (i + 1 < order.size()) next[op.index] = order[i + 1];
    }
  }
  for (const OpId op : problem.graph.ops()) {
    if (listed[op.index]) continue;
    good = false;
    verdict.add("the strict order does not list op '{}'", problem.graph.op_name(op));
  }
  if (!good) return std::nullopt;
  return next;
}

}  // namespace

void check_timeline(const Problem& problem, const Plan& plan, Verdict& verdict) {
  verdict.begin("run times");
  verdict.begin("operands");
  Duration end{0};
  for (const OpId op : problem.graph.ops()) {
    if (!verdict.full()) check_op(problem, plan, op, verdict);
    end = std::max(end, plan.finish[op.index]);
  }
  check_slots(problem, plan, verdict);
  verdict.begin("makespan");
  if (plan.planned_makespan != end) {
    verdict.add("the planned makespan is {} ns, but the planned timeline ends at {} ns",
                plan.planned_makespan.value_or(Duration{0}).count(), end.count());
  }
}

void check_strict_order(const Problem& problem, const Plan& plan, Verdict& verdict) {
  const std::optional<std::vector<OpId>> lists = check_lists(problem, plan, verdict);
  if (!lists) return;
  const std::vector<OpId>& next = *lists;
  // Kahn's order over operands and lists together; what is left over waits in a circle.
  const Graph& graph = problem.graph;
  std::vector<int32_t> waits_for(static_cast<size_t>(graph.size()), 0);
  for (const OpId op : graph.ops()) {
    waits_for[op.index] += graph.made_operands(op);
    if (next[op.index].valid()) ++waits_for[next[op.index].index];
  }
  std::vector<OpId> done;
  for (const OpId op : graph.ops()) {
    if (waits_for[op.index] == 0) done.push_back(op);
  }
  for (size_t head = 0; head < done.size(); ++head) {
    const auto release = [&](OpId op) {
      if (--waits_for[op.index] == 0) done.push_back(op);
    };
    const OpId op = done[head];
    if (next[op.index].valid()) release(next[op.index]);
    for (const EdgeId edge : graph.out_edges(op)) release(graph.edge_to(edge));
  }
  if (static_cast<int32_t>(done.size()) == graph.size()) return;
  for (const OpId op : graph.ops()) {
    if (waits_for[op.index] == 0) continue;
    return verdict.add("the strict order deadlocks: op '{}' waits for itself or behind ops that do",
                       graph.op_name(op));
  }
}

}  // namespace tutti::plan_rules
