#include "tutti/runtime/sim/tails.h"

#include <algorithm>

namespace tutti {

std::vector<Duration> least_tails(const Problem& problem) {
  const Graph& graph = problem.graph;
  std::vector<Duration> tail(static_cast<size_t>(graph.size()), Duration{0});
  const auto order = graph.topological_order();
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    Duration quickest = kNever;
    for (const DeviceId device : problem.devices_for(*it)) {
      quickest = std::min(quickest, problem.costs.run_time(*it, device));
    }
    // Readers come later in the order, so what stands here already is the longest way from them.
    tail[it->index] += quickest;
    for (const EdgeId edge : graph.edges(*it)) {
      const OpId from = graph.edge_from(edge);
      if (from.valid()) tail[from.index] = std::max(tail[from.index], tail[it->index]);
    }
  }
  return tail;
}

}  // namespace tutti
