#include "tutti/plan/weights.h"

#include <algorithm>

#include "tutti/plan/problem.h"

namespace tutti {

bool WeightKeeping::keeps(ValueId weight, MemoryId memory) const {
  const std::vector<ValueId>& there = kept[static_cast<size_t>(memory.index)];
  return std::binary_search(there.begin(), there.end(), weight);
}

std::vector<int64_t> reserved_bytes(const Problem& problem, const WeightKeeping& keeping) {
  std::vector<int64_t> bytes = keeping.stream_buffer_bytes;
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (const ValueId weight : keeping.kept[i]) bytes[i] += problem.graph.bytes(weight);
  }
  for (const ValueId weight : problem.homed_weights()) {
    bytes[static_cast<size_t>(problem.home(weight).index)] += problem.graph.bytes(weight);
  }
  return bytes;
}

void find_streamed(const Problem& problem, const WeightKeeping& keeping, OpId op, MemoryId memory,
                   std::vector<ValueId>& weights) {
  weights.clear();
  for (const ValueId value : problem.graph.operands(op)) {
    if (!problem.is_homed_weight(value) || problem.home(value) == memory) continue;
    if (!keeping.keeps(value, memory)) weights.push_back(value);
  }
  std::sort(weights.begin(), weights.end());
  weights.erase(std::unique(weights.begin(), weights.end()), weights.end());
}

std::vector<int64_t> least_buffer_bytes(const Problem& problem, const WeightKeeping& keeping,
                                        const std::vector<DeviceId>& placement) {
  std::vector<int64_t> least(keeping.kept.size(), 0);
  std::vector<ValueId> weights;
  for (const OpId op : problem.graph.ops()) {
    const MemoryId memory = problem.machine.memory_of(placement[static_cast<size_t>(op.index)]);
    find_streamed(problem, keeping, op, memory, weights);
    int64_t bytes = 0;
    for (const ValueId weight : weights) bytes += problem.graph.bytes(weight);
    int64_t& most = least[static_cast<size_t>(memory.index)];
    most = std::max(most, bytes);
  }
  return least;
}

std::vector<WeightUse> weight_use(const Problem& problem, const WeightKeeping& keeping,
                                  const std::vector<DeviceId>& placement) {
  const Graph& graph = problem.graph;
  std::vector<WeightUse> use(keeping.kept.size());
  for (size_t i = 0; i < use.size(); ++i) {
    use[i].buffer_bytes = keeping.stream_buffer_bytes[i];
    for (const ValueId weight : keeping.kept[i]) {
      use[i].kept_bytes += graph.bytes(weight);
      ++use[i].kept;
    }
  }
  std::vector<MemoryId> read_in;
  for (const ValueId weight : problem.homed_weights()) {
    read_in.clear();
    for (const EdgeId edge : graph.consumers(weight)) {
      const auto op = static_cast<size_t>(graph.edge_to(edge).index);
      read_in.push_back(problem.machine.memory_of(placement[op]));
    }
    std::sort(read_in.begin(), read_in.end());
    read_in.erase(std::unique(read_in.begin(), read_in.end()), read_in.end());
    for (const MemoryId memory : read_in) {
      WeightUse& there = use[static_cast<size_t>(memory.index)];
      if (problem.home(weight) == memory) {
        there.in_place_bytes += graph.bytes(weight);
        ++there.in_place;
      } else if (!keeping.keeps(weight, memory)) {
        there.streamed_bytes += graph.bytes(weight);
        ++there.streamed;
      }
    }
  }
  return use;
}

}  // namespace tutti
