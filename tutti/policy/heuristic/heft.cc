// Heterogeneous Earliest Finish Time (Topcuoglu, Hariri, Wu; TPDS 2002), with insertion: ops by
// descending upward rank (mean run time over all devices, mean transfer over all ordered pairs of
// devices, a device with itself counting 0), each on the device that finishes it first.
//
// The paper's own example charges each transfer in full in its ranks. Counting a device with itself
// as 0 is how the makespans published for measured Cholesky graphs come about (the data set HOFT);
// the paper's example comes out at its 80 either way.
//
// Placement and order survive in the plan; a work-conserving runtime re-times them.

#include <algorithm>
#include <vector>

#include "tutti/policy/heuristic/heuristics.h"
#include "tutti/policy/schedule/insertion.h"
#include "tutti/policy/schedule/ranks.h"

namespace tutti {

Result<Plan> plan_heft(const Problem& problem, const Budget& budget, uint64_t /*seed*/) {
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
