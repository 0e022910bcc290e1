// The greedy locator of the Einsummable engine (Bourgeois et al.; its `alocate01`, as Doppler's
// authors run it): ops in topological order, each at the site that keeps the cost of the dearest
// site least, where a site's cost is the flops done there plus 1000 flops for each byte brought
// there. Graph inputs are free everywhere.
//
// We depart from it in three ways. It weighs all ways to aggregate one output block at once; we see
// ops, not blocks, and place each by itself. Its sites are equal; here a flop counts as many times
// as the device is slower than the fastest for that op. Where ops have no flops (times were
// measured), run and transfer times take the place of flops and bytes.

#ifndef TUTTI_POLICY_HEURISTIC_GREEDY_LOCATOR_H_
#define TUTTI_POLICY_HEURISTIC_GREEDY_LOCATOR_H_

#include "tutti/plan/policy.h"

namespace tutti {

class GreedyLocator : public Planner {
 public:
  Result<Plan> plan(const Problem& problem, const Budget& budget, uint64_t seed) override;
};

}  // namespace tutti

#endif  // TUTTI_POLICY_HEURISTIC_GREEDY_LOCATOR_H_
