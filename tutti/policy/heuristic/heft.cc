#include "tutti/policy/heuristic/heft.h"

#include <algorithm>
#include <vector>

#include "tutti/policy/insertion.h"
#include "tutti/policy/ranks.h"

namespace tutti {

Result<Plan> Heft::plan(const Problem& problem, const Budget& budget, uint64_t /*seed*/) {
  const std::vector<double> rank = upward_ranks(problem, EdgeWeight::all_pairs);
  // Sorting a topological order stably keeps producers first when ranks tie (ops of no cost).
  const auto order = problem.graph.topological_order();
  std::vector<OpId> ops(order.begin(), order.end());
  std::stable_sort(ops.begin(), ops.end(),
                   [&](OpId a, OpId b) { return rank[a.index] > rank[b.index]; });
  InsertionSchedule schedule(problem);
  for (const OpId op : ops) {
    if (budget.stop.now()) return out_of_time();
    schedule.place(op, schedule.best(op));
  }
  return std::move(schedule).to_plan();
}

}  // namespace tutti
