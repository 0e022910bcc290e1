#include <algorithm>

#include "tutti/trace/check/rules.h"

namespace tutti::trace_rules {
namespace {

void check_device(const Case& trial, const OpSpan& span, Verdict& verdict) {
  const Problem& problem = trial.problem;
  const std::string_view name = problem.graph.op_name(span.op);
  const std::string& device = problem.machine.device(span.device).name;
  if (trial.rules.plan != nullptr) {
    const DeviceId planned = trial.rules.plan->placement[span.op.index];
    if (planned != span.device) {
      verdict.add("op '{}' ran on '{}', but the plan places it on '{}'", name, device,
                  planned.valid() && planned.index < problem.machine.size()
                      ? problem.machine.device(planned).name
                      : "no device");
    }
  }
  if (!problem.costs.can_run(span.op, span.device)) {
    verdict.add("op '{}' ran on '{}', which cannot run it", name, device);
    return;
  }
  if (!problem.allows(span.op, span.device)) {
    verdict.add("op '{}' ran on '{}', which its constraints do not allow", name, device);
  }
}

void check_run_time(const Case& trial, const OpSpan& span, Verdict& verdict) {
  const Problem& problem = trial.problem;
  if (!problem.costs.can_run(span.op, span.device)) return;  // told already
  const std::string_view name = problem.graph.op_name(span.op);
  const std::string& device = problem.machine.device(span.device).name;
  const Duration run_time = problem.costs.run_time(span.op, span.device);
  const Noise& noise = problem.costs.run_time_noise(span.op, span.device);
  const TimeRange possible = possible_times(trial, run_time, noise);
  const Duration lasted = span.finish - span.start;
  if (possible.holds(lasted)) return;
  if (trial.drawn(noise)) {
    verdict.add("op '{}' ran for {} ns on '{}', where its noise reaches from {} ns to {} ns", name,
                lasted.count(), device, possible.least.count(), possible.most.count());
  } else {
    verdict.add("op '{}' ran for {} ns on '{}', where its run time is {} ns", name, lasted.count(),
                device, run_time.count());
  }
}

void check_operands(const Case& trial, const OpSpan& span, Verdict& verdict) {
  const Graph& graph = trial.problem.graph;
  const std::string_view name = graph.op_name(span.op);
  // In the released model drawn transfer times leave no mark; producers do.
  const bool only_producers =
      trial.rules.released && trial.drawn(trial.problem.costs.transfer_noise());
  for (const EdgeId edge : graph.edges(span.op)) {
    Duration arrival = trial.presence.arrival(edge);
    const OpId producer = graph.edge_from(edge);
    if (only_producers) {
      arrival = producer.valid() ? trial.presence.span(producer)->finish : Duration{0};
    }
    if (arrival <= span.start) continue;
    const MemoryId memory = trial.problem.machine.memory_of(span.device);
    if (arrival == kNever) {
      verdict.add("op '{}' read '{}', which was never transferred to '{}'", name,
                  graph.value_name(graph.edge_value(edge)),
                  trial.problem.machine.memory(memory).name);
    } else {
      verdict.add("op '{}' started at {} ns, but its operand '{}' was in '{}' only at {} ns", name,
                  span.start.count(), graph.value_name(graph.edge_value(edge)),
                  trial.problem.machine.memory(memory).name, arrival.count());
    }
    return;  // one operand of an op is enough
  }
}

void check_colocation(const Case& trial, Verdict& verdict) {
  verdict.begin("colocation");
  const Problem& problem = trial.problem;
  for (int group = 0; group < problem.colocation_group_count(); ++group) {
    const std::span<const OpId> members = problem.members(group);
    const DeviceId first = trial.presence.span(members[0])->device;
    for (const OpId op : members) {
      const DeviceId device = trial.presence.span(op)->device;
      if (device == first) continue;
      verdict.add("ops '{}' and '{}' must share a device but ran on '{}' and '{}'",
                  problem.graph.op_name(members[0]), problem.graph.op_name(op),
                  problem.machine.device(first).name, problem.machine.device(device).name);
      break;
    }
  }
}

void check_slots(const Case& trial, Verdict& verdict) {
  verdict.begin("slots");
  const Machine& machine = trial.problem.machine;
  std::vector<size_t> first_lane(static_cast<size_t>(machine.size()), 0);
  size_t lanes = 0;
  for (const DeviceId device : machine.devices()) {
    first_lane[device.index] = lanes;
    lanes += static_cast<size_t>(machine.device(device).slots);
  }
  std::vector<std::vector<const OpSpan*>> by_lane(lanes);
  for (const OpSpan& span : trial.trace.ops) {
    const int slot = trial.rules.released ? 0 : span.slot;  // released: one op at a time
    by_lane[first_lane[span.device.index] + static_cast<size_t>(slot)].push_back(&span);
  }
  for (std::vector<const OpSpan*>& lane : by_lane) {
    std::sort(lane.begin(), lane.end(), [](const OpSpan* a, const OpSpan* b) {
      return std::pair(a->start, a->finish) < std::pair(b->start, b->finish);
    });
    for (size_t i = 1; i < lane.size(); ++i) {
      if (lane[i]->start >= lane[i - 1]->finish) continue;
      verdict.add("ops '{}' and '{}' both ran in slot {} of '{}' at {} ns",
                  trial.problem.graph.op_name(lane[i - 1]->op),
                  trial.problem.graph.op_name(lane[i]->op), lane[i]->slot,
                  machine.device(lane[i]->device).name, lane[i]->start.count());
      break;
    }
  }
}

void check_strict_order(const Case& trial, Verdict& verdict) {
  const Plan* plan = trial.rules.plan;
  if (plan == nullptr) return verdict.set_aside("strict order", "no plan was given");
  verdict.begin("strict order");
  if (plan->strict_order.empty()) return;
  for (const DeviceId device : trial.problem.machine.devices()) {
    const std::vector<OpId>& order = plan->strict_order[device.index];
    for (size_t i = 1; i < order.size(); ++i) {
      const OpSpan& before = *trial.presence.span(order[i - 1]);
      const OpSpan& after = *trial.presence.span(order[i]);
      if (before.start <= after.start) continue;
      verdict.add(
          "on '{}' op '{}' started at {} ns, before '{}', which the strict order puts first",
          trial.problem.machine.device(device).name, trial.problem.graph.op_name(order[i]),
          after.start.count(), trial.problem.graph.op_name(order[i - 1]));
      break;
    }
  }
}

void check_placement(const Case& trial, Verdict& verdict) {
  verdict.begin("placement");
  if (trial.rules.plan == nullptr) {
    verdict.set_aside(
        "placement", "no plan was given: ops are held to what is allowed, not to what was planned");
  }
  for (const OpSpan& span : trial.trace.ops) {
    if (verdict.full()) return;
    check_device(trial, span, verdict);
  }
}

void check_run_times(const Case& trial, Verdict& verdict) {
  if (trial.rules.timeless) {
    return verdict.set_aside("run times", "a run of the null runtime takes no time");
  }
  if (trial.rules.measured) {
    return verdict.set_aside("run times",
                             "times are measured: costs predict them and do not prescribe them");
  }
  verdict.begin("run times");
  if (trial.trace.sampled) {
    verdict.set_aside("run times",
                      "durations were drawn: they are held to what noise can reach, not to means");
  }
  for (const OpSpan& span : trial.trace.ops) {
    if (verdict.full()) return;
    check_run_time(trial, span, verdict);
  }
}

void check_placing(const Case& trial, Verdict& verdict) {
  verdict.begin("placing");
  for (const OpSpan& span : trial.trace.ops) {
    if (verdict.full()) return;
    if (span.start >= trial.presence.placed(span.op)) continue;
    verdict.add("op '{}' started at {} ns, but was placed only at {} ns",
                trial.problem.graph.op_name(span.op), span.start.count(),
                trial.presence.placed(span.op).count());
  }
}

void check_end(const Case& trial, Verdict& verdict) {
  verdict.begin("makespan");
  Duration end{0};
  for (const OpSpan& span : trial.trace.ops) end = std::max(end, span.finish);
  if (trial.trace.makespan == end) return;
  verdict.add("the trace's makespan is {} ns, but its last op finished at {} ns",
              trial.trace.makespan.count(), end.count());
}

}  // namespace

void check_ops(const Case& trial, Verdict& verdict) {
  check_placement(trial, verdict);
  check_colocation(trial, verdict);
  check_run_times(trial, verdict);
  check_placing(trial, verdict);
  verdict.begin("operands");
  for (const OpSpan& span : trial.trace.ops) {
    if (!verdict.full()) check_operands(trial, span, verdict);
  }
  check_end(trial, verdict);
}

void check_lanes(const Case& trial, Verdict& verdict) {
  check_slots(trial, verdict);
  check_strict_order(trial, verdict);
}

}  // namespace tutti::trace_rules
