// Everything on the best single device: what a person gets by doing nothing. Every plan is shown
// beside it.

#ifndef TUTTI_POLICY_HEURISTIC_SINGLE_DEVICE_H_
#define TUTTI_POLICY_HEURISTIC_SINGLE_DEVICE_H_

#include "tutti/plan/policy.h"

namespace tutti {

// Refuses (infeasible) if no device may run every op and has the memory for it.
class SingleDevice : public Planner {
 public:
  Result<Plan> plan(const Problem& problem, const Budget& budget, uint64_t seed) override;
};

}  // namespace tutti

#endif  // TUTTI_POLICY_HEURISTIC_SINGLE_DEVICE_H_
