// Order rules: which op goes first, for any placement. A rule looks at the problem and the
// placement and gives every op a priority, the smallest first; a work-conserving runtime obeys them
// among the ops that are ready on one device. The makespan of a placement depends much on the order
// (docs/results), and trying all rules is cheap.
//
// Every rule is deterministic, takes about n log n steps, and gives each op a priority of its own.

#ifndef TUTTI_POLICY_SCHEDULE_ORDER_H_
#define TUTTI_POLICY_SCHEDULE_ORDER_H_

#include <cstdint>
#include <span>
#include <vector>

#include "tutti/plan/plan.h"
#include "tutti/plan/problem.h"

namespace tutti {

using Priorities = std::vector<int64_t>;  // by op
using PlacementView = std::span<const DeviceId>;

struct OrderRule {
  const char* name;
  const char* what;
  Priorities (*priorities)(const Problem& problem, PlacementView placement);
};

// All rules; the first is the one to take if only one is tried.
std::span<const OrderRule> order_rules();

// The longest path from the start of each op to the end of the graph, itself included, as placed:
// run times on the ops' devices, and transfers where an edge crosses from memory to memory.
std::vector<Duration> placed_b_levels(const Problem& problem, PlacementView placement);

// Every op right after what it needs, from each last op back through its operands: finish what is
// started.
std::vector<OpId> depth_first_order(const Graph& graph);

// The plan with its ops where they are, and priorities by the rule. It has no timeline: that was
// the old order's.
Plan reordered(const Problem& problem, const Plan& plan, const OrderRule& rule);

}  // namespace tutti

#endif  // TUTTI_POLICY_SCHEDULE_ORDER_H_
