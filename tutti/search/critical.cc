#include "tutti/search/critical.h"

#include <algorithm>

namespace tutti {

void critical_path_of(const Problem& problem, const Plan& plan, const Judge& judge,
                      std::vector<OpId>& path) {
  const Graph& graph = problem.graph;
  path.clear();
  std::vector<OpId> by_finish;
  by_finish.reserve(static_cast<size_t>(graph.size()));
  for (const OpId op : graph.ops()) by_finish.push_back(op);
  std::sort(by_finish.begin(), by_finish.end(), [&](OpId a, OpId b) {
    const Duration x = judge.finish(a);
    const Duration y = judge.finish(b);
    return x != y ? x < y : a < b;
  });
  if (by_finish.empty()) return;
  for (OpId op = by_finish.back(); op.valid();) {
    path.push_back(op);
    const Duration start = judge.start(op);
    OpId cause{};
    Duration latest{-1};
    for (const EdgeId edge : graph.edges(op)) {
      const OpId from = graph.edge_from(edge);
      if (!from.valid() || judge.finish(from) <= latest) continue;
      cause = from;
      latest = judge.finish(from);
    }
    if (latest < start) {  // it may have waited for its device instead
      auto it = std::lower_bound(by_finish.begin(), by_finish.end(), start,
                                 [&](OpId a, Duration time) { return judge.finish(a) < time; });
      for (; it != by_finish.end() && judge.finish(*it) == start; ++it) {
        // Ops of no length end where they start; a step back must go back in time.
        if (plan.placement[it->index] != plan.placement[op.index] || judge.start(*it) >= start) {
          continue;
        }
        cause = *it;
        break;
      }
    }
    op = cause;
  }
}

}  // namespace tutti
