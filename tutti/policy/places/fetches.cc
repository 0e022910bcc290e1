#include "tutti/policy/places/fetches.h"

#include <algorithm>

namespace tutti {

Fetches::Fetches(const Problem& problem)
    : problem_(problem),
      memories_(static_cast<size_t>(problem.machine.memory_count())),
      device_of_(static_cast<size_t>(problem.graph.size())),
      readers_(static_cast<size_t>(problem.graph.value_count()) * memories_, 0) {}

Duration Fetches::time(OpId op, DeviceId device) const {
  const Graph& graph = problem_.graph;
  const MemoryId to = problem_.machine.memory_of(device);
  const auto edges = graph.edges(op);
  Duration sum{0};
  for (const EdgeId edge : edges) {
    const ValueId value = graph.edge_value(edge);
    if (readers(value, to) > 0) continue;
    // Few operands stand twice, and those next to each other: the second costs nothing.
    if (edge != edges.front() && graph.edge_value(EdgeId{edge.index - 1}) == value) continue;
    const OpId producer = graph.producer(value);
    if (producer.valid()) {
      const DeviceId from = device_of_[producer.index];
      if (from.valid()) sum += problem_.costs.transfer_time(edge, from, device);
    } else if (const MemoryId home = problem_.home(value); home.valid()) {
      sum += problem_.costs.transfer_time(value, home, to);
    }
  }
  return sum;
}

void Fetches::place(OpId op, DeviceId device) {
  device_of_[op.index] = device;
  for (const ValueId value : problem_.graph.operands(op)) {
    ++readers(value, problem_.machine.memory_of(device));
  }
}

void Fetches::take_back(OpId op, DeviceId device) {
  device_of_[op.index] = DeviceId{};
  for (const ValueId value : problem_.graph.operands(op)) {
    --readers(value, problem_.machine.memory_of(device));
  }
}

}  // namespace tutti
