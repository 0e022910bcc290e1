#include <algorithm>

#include "tutti/trace/check_rules.h"

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
  if (trial.rules.timeless || trial.rules.measured) return;
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
  if (plan == nullptr || plan->strict_order.empty()) return;
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

// What the run says of itself may excuse only what it can be true of.
void check_records(const Case& trial, Verdict& verdict) {
  if (trial.trace.sampled && !trial.problem.costs.has_noise()) {
    verdict.add("the trace is recorded as sampled, but these costs have no noise");
  }
  if (trial.rules.plan == nullptr) return;
  if (!trial.trace.placed.empty()) {
    verdict.add("the trace records when ops were placed, but the plan placed them all beforehand");
  }
  if (!trial.trace.pauses.empty()) {
    verdict.add("the trace records pauses, but the run of a plan has none");
  }
}

}  // namespace

void check_ops(const Case& trial, Verdict& verdict) {
  check_records(trial, verdict);
  Duration end{0};
  for (const OpSpan& span : trial.trace.ops) {
    end = std::max(end, span.finish);
    if (verdict.full()) continue;
    check_device(trial, span, verdict);
    if (span.start < trial.presence.placed(span.op)) {
      verdict.add("op '{}' started at {} ns, but was placed only at {} ns",
                  trial.problem.graph.op_name(span.op), span.start.count(),
                  trial.presence.placed(span.op).count());
    }
    check_operands(trial, span, verdict);
  }
  check_colocation(trial, verdict);
  if (trial.trace.makespan != end) {
    verdict.add("the trace's makespan is {} ns, but its last op finished at {} ns",
                trial.trace.makespan.count(), end.count());
  }
}

void check_lanes(const Case& trial, Verdict& verdict) {
  check_slots(trial, verdict);
  check_strict_order(trial, verdict);
}

}  // namespace tutti::trace_rules
