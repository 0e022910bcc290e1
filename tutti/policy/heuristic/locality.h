// Data locality: ops in order of upward rank, each where its operands are soonest, weighed against
// the work already there: the device with the least sum of the time to bring the missing operands
// over and the run times placed on it, its own included, over the device's slots. Knows no
// timeline, so that a wrong estimate of one op does not mislead the next.

#ifndef TUTTI_POLICY_HEURISTIC_LOCALITY_H_
#define TUTTI_POLICY_HEURISTIC_LOCALITY_H_

#include "tutti/plan/policy.h"

namespace tutti {

class Locality : public Planner {
 public:
  Result<Plan> plan(const Problem& problem, const Budget& budget, uint64_t seed) override;
};

}  // namespace tutti

#endif  // TUTTI_POLICY_HEURISTIC_LOCALITY_H_
