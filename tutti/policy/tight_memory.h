// What the memory-aware planners fall back on when their own order of ops runs out of memory: few
// values at a time. Ops go depth first (finish what is started, so that values are read and given
// back soon), each on the device that finishes it first among those with room; if that gets stuck,
// each on the device with most room left; then both again in topological order.

#ifndef TUTTI_POLICY_TIGHT_MEMORY_H_
#define TUTTI_POLICY_TIGHT_MEMORY_H_

#include "tutti/plan/plan.h"
#include "tutti/plan/problem.h"

namespace tutti {

// Fails (infeasible) naming the op, the roomiest device and the bytes that lack.
Result<Plan> plan_in_tight_memory(const Problem& problem);

}  // namespace tutti

#endif  // TUTTI_POLICY_TIGHT_MEMORY_H_
