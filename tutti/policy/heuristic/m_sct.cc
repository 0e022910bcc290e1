#include "tutti/policy/heuristic/m_sct.h"

#include <algorithm>

#include "tutti/policy/ranks.h"

namespace tutti {

std::vector<OpId> favourite_children(const Problem& problem) {
  const Graph& graph = problem.graph;
  const std::vector<double> up = upward_ranks(problem, EdgeWeight::distinct_pairs);
  const std::vector<double> down = downward_ranks(problem, EdgeWeight::distinct_pairs);
  const auto devices = static_cast<double>(problem.machine.size());
  const double factor = devices < 2 ? 1 : devices / (devices - 1);
  struct Candidate {
    double way;       // from the start of the graph to its end
    double transfer;  // saved if the reader follows
    OpId from;
    OpId to;
  };
  std::vector<Candidate> candidates;
  for (const OpId op : graph.ops()) {
    for (const EdgeId edge : graph.edges(op)) {
      const OpId producer = graph.edge_from(edge);
      if (!producer.valid()) continue;
      const double transfer = factor * problem.costs.mean_transfer_time_ns(edge);
      const double way =
          down[producer.index] + problem.costs.mean_run_time_ns(producer) + transfer + up[op.index];
      candidates.push_back({way, transfer, producer, op});
    }
  }
  std::stable_sort(candidates.begin(), candidates.end(), [](const auto& a, const auto& b) {
    return std::pair(a.way, a.transfer) > std::pair(b.way, b.transfer);
  });
  std::vector<OpId> favourite(static_cast<size_t>(graph.size()));
  std::vector<bool> follows(static_cast<size_t>(graph.size()), false);
  for (const Candidate& c : candidates) {
    if (favourite[static_cast<size_t>(c.from.index)].valid()) continue;
    if (follows[static_cast<size_t>(c.to.index)]) continue;
    favourite[static_cast<size_t>(c.from.index)] = c.to;
    follows[static_cast<size_t>(c.to.index)] = true;
  }
  return favourite;
}

}  // namespace tutti
