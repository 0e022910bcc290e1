#include "tutti/policy/schedule/ranks.h"

#include <algorithm>

namespace tutti {

double edge_factor(const Problem& problem, EdgeWeight weight) {
  const auto devices = static_cast<double>(problem.machine.size());
  if (weight == EdgeWeight::all_pairs || devices < 2) return 1;
  return devices / (devices - 1);
}

std::vector<double> upward_ranks(const Problem& problem, EdgeWeight weight) {
  const Graph& graph = problem.graph;
  const double factor = edge_factor(problem, weight);
  std::vector<double> rank(static_cast<size_t>(graph.size()), 0);
  const auto order = graph.topological_order();
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    const OpId op = *it;
    rank[op.index] += problem.costs.mean_run_time_ns(op);  // so far the longest path behind it
    for (const EdgeId edge : graph.edges(op)) {
      const OpId producer = graph.edge_from(edge);
      if (!producer.valid()) continue;
      const double way = rank[op.index] + factor * problem.costs.mean_transfer_time_ns(edge);
      rank[producer.index] = std::max(rank[producer.index], way);
    }
  }
  return rank;
}

std::vector<double> downward_ranks(const Problem& problem, EdgeWeight weight) {
  const Graph& graph = problem.graph;
  const double factor = edge_factor(problem, weight);
  std::vector<double> rank(static_cast<size_t>(graph.size()), 0);
  for (const OpId op : graph.topological_order()) {
    for (const EdgeId edge : graph.edges(op)) {
      const OpId producer = graph.edge_from(edge);
      if (!producer.valid()) continue;
      const double way = rank[producer.index] + problem.costs.mean_run_time_ns(producer) +
                         factor * problem.costs.mean_transfer_time_ns(edge);
      rank[op.index] = std::max(rank[op.index], way);
    }
  }
  return rank;
}

}  // namespace tutti
