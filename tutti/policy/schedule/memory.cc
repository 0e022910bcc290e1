#include "tutti/policy/schedule/memory.h"

#include <fmt/format.h>

#include <algorithm>

namespace tutti {

int64_t working_set_bytes(const Graph& graph, OpId op) {
  int64_t bytes = graph.transient_bytes(op);
  for (const ValueId value : graph.outputs(op)) bytes += graph.bytes(value);
  std::vector<ValueId> operands(graph.operands(op).begin(), graph.operands(op).end());
  std::sort(operands.begin(), operands.end());
  operands.erase(std::unique(operands.begin(), operands.end()), operands.end());
  for (const ValueId value : operands) bytes += graph.bytes(value);
  return bytes;
}

namespace {

Result<void> require_possible_room(const Problem& problem, OpId op) {
  const Machine& machine = problem.machine;
  const int64_t needed = working_set_bytes(problem.graph, op);
  const auto limit = [&](DeviceId device) {
    return problem.memory_limit(machine.memory_of(device));
  };
  DeviceId roomiest = problem.devices_for(op).front();
  for (const DeviceId device : problem.devices_for(op)) {
    if (limit(device) > limit(roomiest)) roomiest = device;
  }
  if (needed <= limit(roomiest)) return {};
  return infeasible(
      fmt::format("op '{}' works on {} and fits on no device it may use: the roomiest, '{}', holds "
                  "{}, {} bytes "
                  "too few; allow more memory or devices",
                  problem.graph.op_name(op), bytes_to_text(needed), machine.device(roomiest).name,
                  bytes_to_text(limit(roomiest)), needed - limit(roomiest)));
}

// A weight that is read stays in at least one memory that has a device, for the whole run.
Result<void> require_room_for_weights(const Problem& problem) {
  double weights = 0;
  for (const ValueId value : problem.graph.values()) {
    const bool read = !problem.graph.consumers(value).empty();
    if (problem.graph.producer(value).valid() || !problem.graph.is_weight(value) || !read) continue;
    weights += static_cast<double>(problem.graph.bytes(value));
  }
  double room = 0;
  std::vector<bool> counted(static_cast<size_t>(problem.machine.memory_count()), false);
  for (const DeviceId device : problem.machine.devices()) {
    const MemoryId memory = problem.machine.memory_of(device);
    if (problem.memory_limit(memory) == kUnlimitedBytes) return {};
    if (counted[static_cast<size_t>(memory.index)]) continue;
    counted[static_cast<size_t>(memory.index)] = true;
    room += static_cast<double>(problem.memory_limit(memory));
  }
  if (weights <= room) return {};
  return infeasible(
      fmt::format("the graph's weights take {}, and the memories of all devices of machine '{}' "
                  "together hold {}, {:.0f} bytes too few; allow more memory or devices",
                  bytes_to_text(static_cast<int64_t>(weights)), problem.machine.name(),
                  bytes_to_text(static_cast<int64_t>(room)), weights - room));
}

}  // namespace

Result<void> require_possible_room(const Problem& problem) {
  if (!problem.has_memory_limits()) return {};
  for (const OpId op : problem.graph.ops()) {
    if (Result<void> room = require_possible_room(problem, op); !room) return room;
  }
  return require_room_for_weights(problem);
}

Error no_room_for(const State& state, OpId op) {
  const Problem& problem = state.problem();
  DeviceId roomiest = problem.devices_for(op).front();
  for (const DeviceId device : problem.devices_for(op)) {
    if (state.memory_left(device) > state.memory_left(roomiest)) roomiest = device;
  }
  if (const int group = problem.colocation_group(op); group >= 0) {
    for (const OpId member : problem.members(group)) {
      if (state.placement(member).valid()) roomiest = state.placement(member);
    }
  }
  if (const Result<void> room = require_possible_room(problem, op); !room) return room.error();
  const Machine& machine = problem.machine;
  const int64_t needed = working_set_bytes(problem.graph, op);
  return infeasible(
      fmt::format("no plan found: op '{}' works on {}, and when it is due the roomiest device it "
                  "may use, '{}', "
                  "has {} left of {}, {} bytes too few; allow more memory or devices",
                  problem.graph.op_name(op), bytes_to_text(needed), machine.device(roomiest).name,
                  bytes_to_text(state.memory_left(roomiest)),
                  bytes_to_text(problem.memory_limit(machine.memory_of(roomiest))),
                  needed - state.memory_left(roomiest)));
}

Error no_room_for(const State& state, OpId op, DeviceId device) {
  const Problem& problem = state.problem();
  const int64_t needed = working_set_bytes(problem.graph, op);
  return infeasible(fmt::format(
      "op '{}' works on {} but '{}' has {} left of {}, {} bytes too few; allow more memory or "
      "devices",
      problem.graph.op_name(op), bytes_to_text(needed), problem.machine.device(device).name,
      bytes_to_text(state.memory_left(device)),
      bytes_to_text(problem.memory_limit(problem.machine.memory_of(device))),
      needed - state.memory_left(device)));
}

Result<void> require_room(const Problem& problem, const std::vector<DeviceId>& placement) {
  if (!problem.has_memory_limits()) return {};
  const Graph& graph = problem.graph;
  const auto memories = static_cast<size_t>(problem.machine.memory_count());
  std::vector<int64_t> weights(memories, 0);
  std::vector<int64_t> largest(memories, 0);
  std::vector<ValueId> counted(memories);
  for (const ValueId value : graph.values()) {
    if (graph.producer(value).valid() || !graph.is_weight(value)) continue;
    for (const EdgeId edge : graph.consumers(value)) {
      const auto memory = static_cast<size_t>(
          problem.machine.memory_of(placement[graph.edge_to(edge).index]).index);
      if (counted[memory] == value) continue;
      counted[memory] = value;
      weights[memory] += graph.bytes(value);
    }
  }
  for (const OpId op : graph.ops()) {
    const auto memory = static_cast<size_t>(problem.machine.memory_of(placement[op.index]).index);
    int64_t bytes = working_set_bytes(graph, op);
    for (const ValueId value : graph.operands(op)) {
      if (!graph.producer(value).valid() && graph.is_weight(value)) bytes -= graph.bytes(value);
    }
    largest[memory] = std::max(largest[memory], bytes);
  }
  for (size_t i = 0; i < memories; ++i) {
    const MemoryId memory{static_cast<int32_t>(i)};
    const int64_t limit = problem.memory_limit(memory);
    if (limit == kUnlimitedBytes || weights[i] + largest[i] <= limit) continue;
    return infeasible(fmt::format(
        "this policy does not plan for memory, and its plan needs {} bytes more than memory '{}' "
        "has; use a policy that does, such as m_etf, or allow more",
        weights[i] + largest[i] - limit, problem.machine.memory(memory).name));
  }
  return {};
}

}  // namespace tutti
