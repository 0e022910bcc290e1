// Round robin: ops in topological order, each on the next device in turn that may run it and has
// room. Knows neither times nor transfers; what it shows is how much a policy gains by looking.

#ifndef TUTTI_POLICY_HEURISTIC_ROUND_ROBIN_H_
#define TUTTI_POLICY_HEURISTIC_ROUND_ROBIN_H_

#include "tutti/plan/policy.h"

namespace tutti {

class RoundRobin : public Planner {
 public:
  Result<Plan> plan(const Problem& problem, const Budget& budget, uint64_t seed) override;
};

}  // namespace tutti

#endif  // TUTTI_POLICY_HEURISTIC_ROUND_ROBIN_H_
