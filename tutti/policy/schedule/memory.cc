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

// By memory: the weights with homes there, which never leave it.
std::vector<int64_t> bytes_at_home(const Problem& problem) {
  std::vector<int64_t> bytes(static_cast<size_t>(problem.machine.memory_count()), 0);
  for (const ValueId weight : problem.homed_weights()) {
    bytes[static_cast<size_t>(problem.home(weight).index)] += problem.graph.bytes(weight);
  }
  return bytes;
}

// What an op works on in that memory, apart from weights that are at home there.
int64_t working_set_bytes(const Problem& problem, OpId op, MemoryId memory) {
  int64_t bytes = working_set_bytes(problem.graph, op);
  if (!problem.has_homed_weights()) return bytes;
  std::vector<ValueId> at_home;
  for (const ValueId value : problem.graph.operands(op)) {
    if (problem.is_homed_weight(value) && problem.home(value) == memory) at_home.push_back(value);
  }
  std::sort(at_home.begin(), at_home.end());
  at_home.erase(std::unique(at_home.begin(), at_home.end()), at_home.end());
  for (const ValueId value : at_home) bytes -= problem.graph.bytes(value);
  return bytes;
}

// Even if all weights with homes are streamed and none is kept.
Result<void> require_possible_room_beside_homes(const Problem& problem, OpId op,
                                                const std::vector<int64_t>& homes) {
  const Machine& machine = problem.machine;
  const auto missing = [&](DeviceId device) {
    const MemoryId memory = machine.memory_of(device);
    const int64_t limit = problem.memory_limit(memory);
    if (limit == kUnlimitedBytes) return int64_t{0};
    const int64_t taken = homes[static_cast<size_t>(memory.index)];
    return std::max<int64_t>(0, working_set_bytes(problem, op, memory) + taken - limit);
  };
  DeviceId roomiest = problem.devices_for(op).front();
  for (const DeviceId device : problem.devices_for(op)) {
    if (missing(device) < missing(roomiest)) roomiest = device;
  }
  if (missing(roomiest) == 0) return {};
  const MemoryId memory = machine.memory_of(roomiest);
  return infeasible(fmt::format(
      "op '{}' works on {} and fits on no device it may use, even if all weights are streamed: on "
      "'{}', which holds {}, {} bytes are missing; allow more memory or devices",
      problem.graph.op_name(op), bytes_to_text(working_set_bytes(problem, op, memory)),
      machine.device(roomiest).name, bytes_to_text(problem.memory_limit(memory)),
      missing(roomiest)));
}

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

// The weights with homes must have room there.
Result<void> require_room_at_home(const Problem& problem, const std::vector<int64_t>& homes) {
  for (size_t i = 0; i < homes.size(); ++i) {
    const MemoryId memory{static_cast<int32_t>(i)};
    const int64_t limit = problem.memory_limit(memory);
    if (homes[i] <= limit) continue;
    return infeasible(fmt::format(
        "the weights at home in memory '{}' take {}, and it holds {}, {} bytes too few; allow more "
        "memory or change their residence",
        problem.machine.memory(memory).name, bytes_to_text(homes[i]), bytes_to_text(limit),
        homes[i] - limit));
  }
  return {};
}

// A weight without a home that is read stays in at least one memory that has a device, for the
// whole run.
Result<void> require_room_for_weights(const Problem& problem) {
  double weights = 0;
  for (const ValueId value : problem.graph.values()) {
    const bool read = !problem.graph.consumers(value).empty();
    if (problem.graph.producer(value).valid() || !problem.graph.is_weight(value) || !read) continue;
    if (problem.is_homed_weight(value)) continue;
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
  const std::vector<int64_t> homes = bytes_at_home(problem);
  if (Result<void> room = require_room_at_home(problem, homes); !room) return room;
  for (const OpId op : problem.graph.ops()) {
    Result<void> room = problem.has_homed_weights()
                            ? require_possible_room_beside_homes(problem, op, homes)
                            : require_possible_room(problem, op);
    if (!room) return room;
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
  if (const Result<void> room = problem.has_homed_weights() ? require_possible_room(problem)
                                                            : require_possible_room(problem, op);
      !room) {
    return room.error();
  }
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
  const bool streamed = problem.weights_are_streamed();
  if (streamed) weights = bytes_at_home(problem);
  const auto is_streamed = [&](ValueId value) {
    return streamed && problem.is_homed_weight(value);
  };
  for (const ValueId value : graph.values()) {
    if (graph.producer(value).valid() || !graph.is_weight(value) || is_streamed(value)) continue;
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
    const MemoryId there{static_cast<int32_t>(memory)};
    int64_t bytes = streamed ? working_set_bytes(problem, op, there) : working_set_bytes(graph, op);
    for (const ValueId value : graph.operands(op)) {
      if (graph.producer(value).valid() || !graph.is_weight(value) || is_streamed(value)) continue;
      bytes -= graph.bytes(value);
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
