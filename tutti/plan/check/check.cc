#include "tutti/plan/check/check.h"

#include <algorithm>
#include <array>

#include "tutti/base/fingerprint.h"
#include "tutti/graph/limits.h"
#include "tutti/plan/check/rules.h"

namespace tutti {
namespace plan_rules {
namespace {

// Whether the plan itself says where the weight is.
bool is_kept_or_streamed(const Problem& problem, const Plan& plan, ValueId value) {
  return plan.weights.stated() && problem.is_homed_weight(value);
}

// Outputs, transient bytes, and every operand that is not a weight, each once.
int64_t need_of(const Graph& graph, OpId op, std::vector<ValueId>& scratch) {
  int64_t bytes = graph.transient_bytes(op);
  for (const ValueId value : graph.outputs(op)) bytes += graph.bytes(value);
  scratch.assign(graph.operands(op).begin(), graph.operands(op).end());
  std::sort(scratch.begin(), scratch.end());
  scratch.erase(std::unique(scratch.begin(), scratch.end()), scratch.end());
  for (const ValueId value : scratch) {
    const bool weight = !graph.producer(value).valid() && graph.is_weight(value);
    if (!weight) bytes += graph.bytes(value);
  }
  return bytes;
}

// By memory: the bytes of the weights that ops placed there read, each weight once; if the plan
// says which weights with homes are kept, those instead, with the ones at home and the stream
// buffer.
std::vector<int64_t> weight_bytes(const Problem& problem, const Plan& plan) {
  const Graph& graph = problem.graph;
  const auto memories = static_cast<size_t>(problem.machine.memory_count());
  std::vector<int64_t> bytes(memories, 0);
  if (plan.weights.stated()) bytes = reserved_bytes(problem, plan.weights);
  std::vector<ValueId> counted_last(memories);
  for (const ValueId value : graph.values()) {
    if (graph.producer(value).valid() || !graph.is_weight(value)) continue;
    if (is_kept_or_streamed(problem, plan, value)) continue;
    for (const EdgeId edge : graph.consumers(value)) {
      const DeviceId device = plan.placement[graph.edge_to(edge).index];
      const MemoryId memory = problem.machine.memory_of(device);
      if (counted_last[memory.index] == value) continue;
      counted_last[memory.index] = value;
      bytes[memory.index] += graph.bytes(value);
    }
  }
  return bytes;
}

void check_keeping_shape(const Problem& problem, const WeightKeeping& keeping, Verdict& verdict) {
  const auto memories = static_cast<size_t>(problem.machine.memory_count());
  if (!keeping.stated() && keeping.stream_buffer_bytes.empty()) return;
  if (keeping.kept.size() != memories || keeping.stream_buffer_bytes.size() != memories) {
    return verdict.add("the plan keeps weights in {} memories and has {} stream buffers for {}",
                       keeping.kept.size(), keeping.stream_buffer_bytes.size(), memories);
  }
  for (size_t i = 0; i < memories; ++i) {
    const MemoryId memory{static_cast<int32_t>(i)};
    const std::string& name = problem.machine.memory(memory).name;
    if (keeping.stream_buffer_bytes[i] < 0 || keeping.stream_buffer_bytes[i] > kMostBytes) {
      verdict.add("the stream buffer of memory '{}' has {} bytes", name,
                  keeping.stream_buffer_bytes[i]);
    }
    ValueId before{};
    for (const ValueId weight : keeping.kept[i]) {
      if (!problem.is_homed_weight(weight)) {
        verdict.add("memory '{}' keeps value {}, which is no weight with a home", name,
                    weight.index);
      } else if (problem.home(weight) == memory) {
        verdict.add("memory '{}' keeps weight '{}', which is at home there", name,
                    problem.graph.value_name(weight));
      }
      if (weight <= before) verdict.add("the weights kept in memory '{}' are not sorted", name);
      before = weight;
    }
  }
}

void check_ids(const Problem& problem, const Plan& plan, Verdict& verdict) {
  for (const OpId op : problem.graph.ops()) {
    const DeviceId device = plan.placement[op.index];
    if (!device.valid() || device.index >= problem.machine.size()) {
      verdict.add("op '{}' has no device", problem.graph.op_name(op));
    }
  }
  for (const std::vector<OpId>& order : plan.strict_order) {
    for (const OpId op : order) {
      if (!op.valid() || op.index >= problem.graph.size()) {
        verdict.add("the strict order names op {}, but the graph has {} ops", op.index,
                    problem.graph.size());
      }
    }
  }
}

}  // namespace

void check_shape(const Problem& problem, const Plan& plan, Verdict& verdict) {
  verdict.begin("shape");
  const auto ops = static_cast<size_t>(problem.graph.size());
  const uint64_t made_for = plan.provenance.graph_fingerprint;
  if (made_for != 0 && made_for != problem.graph.fingerprint()) {
    verdict.add("the plan was made for another graph ({}, not {})", fingerprint_text(made_for),
                fingerprint_text(problem.graph.fingerprint()));
  }
  if (plan.placement.size() != ops || plan.priority.size() != ops) {
    verdict.add("the plan has {} devices and {} priorities for {} ops", plan.placement.size(),
                plan.priority.size(), ops);
  }
  const bool timed = !plan.start.empty() || !plan.finish.empty();
  if (timed && (plan.start.size() != ops || plan.finish.size() != ops)) {
    verdict.add("the planned timeline has {} starts and {} finishes for {} ops", plan.start.size(),
                plan.finish.size(), ops);
  }
  const auto devices = static_cast<size_t>(problem.machine.size());
  if (!plan.strict_order.empty() && plan.strict_order.size() != devices) {
    verdict.add("the strict order has {} lists for {} devices", plan.strict_order.size(), devices);
  }
  check_keeping_shape(problem, plan.weights, verdict);
  if (verdict.good()) check_ids(problem, plan, verdict);
}

void check_placement(const Problem& problem, const Plan& plan, Verdict& verdict) {
  verdict.begin("placement");
  for (const OpId op : problem.graph.ops()) {
    const DeviceId device = plan.placement[op.index];
    const std::string& name = problem.machine.device(device).name;
    if (!problem.costs.can_run(op, device)) {
      verdict.add("op '{}' is placed on '{}', which cannot run it", problem.graph.op_name(op),
                  name);
    } else if (!problem.allows(op, device)) {
      verdict.add("op '{}' is placed on '{}', which its constraints do not allow",
                  problem.graph.op_name(op), name);
    }
    if (verdict.full()) return;
  }
}

void check_colocation(const Problem& problem, const Plan& plan, Verdict& verdict) {
  verdict.begin("colocation");
  for (int group = 0; group < problem.colocation_group_count(); ++group) {
    const std::span<const OpId> members = problem.members(group);
    for (const OpId op : members) {
      const DeviceId here = plan.placement[op.index];
      const DeviceId there = plan.placement[members[0].index];
      if (here == there) continue;
      verdict.add("ops '{}' and '{}' must share a device but are placed on '{}' and '{}'",
                  problem.graph.op_name(members[0]), problem.graph.op_name(op),
                  problem.machine.device(there).name, problem.machine.device(here).name);
      break;
    }
  }
}

void check_stream_buffers(const Problem& problem, const Plan& plan, Verdict& verdict) {
  verdict.begin("stream buffers");
  if (!plan.weights.stated()) return;
  std::vector<ValueId> streamed;
  for (const OpId op : problem.graph.ops()) {
    const MemoryId memory = problem.machine.memory_of(plan.placement[op.index]);
    find_streamed(problem, plan.weights, op, memory, streamed);
    int64_t bytes = 0;
    for (const ValueId weight : streamed) bytes += problem.graph.bytes(weight);
    const int64_t buffer = plan.weights.stream_buffer_bytes[memory.index];
    if (bytes <= buffer) continue;
    verdict.add(
        "the stream buffer of memory '{}' has {} bytes, but op '{}' reads {} bytes of streamed "
        "weights there",
        problem.machine.memory(memory).name, buffer, problem.graph.op_name(op), bytes);
    if (verdict.full()) return;
  }
}

void check_memory(const Problem& problem, const Plan& plan, Verdict& verdict) {
  verdict.begin("memory");
  if (!problem.has_memory_limits()) return;
  const auto memories = static_cast<size_t>(problem.machine.memory_count());
  const std::vector<int64_t> weights = weight_bytes(problem, plan);
  std::vector<int64_t> largest_need(memories, 0);
  std::vector<OpId> largest(memories);
  std::vector<ValueId> scratch;
  for (const OpId op : problem.graph.ops()) {
    const MemoryId memory = problem.machine.memory_of(plan.placement[op.index]);
    const int64_t need = need_of(problem.graph, op, scratch);
    if (largest[memory.index].valid() && need <= largest_need[memory.index]) continue;
    largest[memory.index] = op;
    largest_need[memory.index] = need;
  }
  for (int32_t index = 0; index < problem.machine.memory_count(); ++index) {
    const int64_t limit = problem.memory_limit(MemoryId{index});
    if (!largest[index].valid() && weights[index] > limit) {
      verdict.add("memory '{}' has {} bytes but must hold {} of weights and stream buffer",
                  problem.machine.memory(MemoryId{index}).name, limit, weights[index]);
    }
    if (!largest[index].valid() || largest_need[index] <= limit - weights[index]) continue;
    verdict.add(
        "memory '{}' has {} bytes but must hold {} of weights and {} for op '{}' at the same time",
        problem.machine.memory(MemoryId{index}).name, limit, weights[index], largest_need[index],
        problem.graph.op_name(largest[index]));
  }
}

}  // namespace plan_rules

namespace {

constexpr std::array kPlanRules = {
    Rule{"shape", "the plan is of this graph; every op has a device and a priority"},
    Rule{"placement", "every op is on a device that can run it and may"},
    Rule{"colocation", "ops that must share a device do"},
    Rule{"memory", "weights and the largest op fit each memory"},
    Rule{"stream buffers", "each holds the streamed weights of any op in its memory"},
    Rule{"strict order", "it lists each op once, on its device, and cannot deadlock"},
    Rule{"run times", "every op takes its run time"},
    Rule{"operands", "no op starts before its operands can have arrived"},
    Rule{"slots", "no device runs more ops than it has slots"},
    Rule{"makespan", "the planned makespan is the end of the timeline"},
};

}  // namespace

std::span<const Rule> plan_rule_table() {
  return kPlanRules;
}

Judgement judge_plan(const Problem& problem, const Plan& plan, int limit) {
  Verdict verdict(limit, kPlanRules);
  plan_rules::check_shape(problem, plan, verdict);
  if (!verdict.good()) return verdict.take_judgement();
  plan_rules::check_placement(problem, plan, verdict);
  plan_rules::check_colocation(problem, plan, verdict);
  plan_rules::check_memory(problem, plan, verdict);
  plan_rules::check_stream_buffers(problem, plan, verdict);
  verdict.begin("strict order");
  if (!plan.strict_order.empty()) plan_rules::check_strict_order(problem, plan, verdict);
  if (!plan.start.empty()) {
    plan_rules::check_timeline(problem, plan, verdict);
  } else {
    for (const char* rule : {"run times", "operands", "slots", "makespan"}) {
      verdict.set_aside(rule, "the plan has no timeline");
    }
  }
  return verdict.take_judgement();
}

std::vector<std::string> check_plan(const Problem& problem, const Plan& plan, int limit) {
  return judge_plan(problem, plan, limit).sentences();
}

}  // namespace tutti
