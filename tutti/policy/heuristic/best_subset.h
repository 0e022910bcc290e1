// The best subset of devices: over slow links fewer devices are often quicker, which no rule sees
// that looks at one op at a time. Subsets grow by speed and closeness (subsets.h), each is planned
// with contention-aware earliest finish, and the plan of the least estimated makespan is taken.

#ifndef TUTTI_POLICY_HEURISTIC_BEST_SUBSET_H_
#define TUTTI_POLICY_HEURISTIC_BEST_SUBSET_H_

#include "tutti/plan/policy.h"

namespace tutti {

// Tries every size up to 8 devices, then 16, 32, and so on, and all. An op that may run on none of
// the subset goes where it may.
class BestSubset : public Planner {
 public:
  Result<Plan> plan(const Problem& problem, const Budget& budget, uint64_t seed) override;
};

}  // namespace tutti

#endif  // TUTTI_POLICY_HEURISTIC_BEST_SUBSET_H_
