// Component packing: parts of a graph that exchange no values (data-parallel copies, for instance)
// need no transfers if each stays on one device. The longest go first, each to the device that is
// done with it first (LPT: Graham 1969, for unequal devices Gonzalez, Ibarra, Sahni 1977).
//
// A part that holds more work than several devices' share, and the largest ones if there are fewer
// parts than devices, are split: they get a team of devices and contention-aware earliest finish
// divides their ops among it.

#ifndef TUTTI_POLICY_HEURISTIC_COMPONENTS_H_
#define TUTTI_POLICY_HEURISTIC_COMPONENTS_H_

#include "tutti/plan/policy.h"

namespace tutti {

class ComponentPacking : public Planner {
 public:
  Result<Plan> plan(const Problem& problem, const Budget& budget, uint64_t seed) override;
};

}  // namespace tutti

#endif  // TUTTI_POLICY_HEURISTIC_COMPONENTS_H_
