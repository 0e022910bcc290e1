// Heterogeneous Earliest Finish Time (Topcuoglu, Hariri, Wu; TPDS 2002), with insertion: ops by
// descending upward rank (mean run time over all devices, mean transfer over all ordered pairs of
// devices, a device with itself counting 0), each on the device that finishes it first.
//
// The paper's own example charges each transfer in full in its ranks. Counting a device with itself
// as 0 is how the makespans published for measured Cholesky graphs come about (the data set HOFT);
// the paper's example comes out at its 80 either way.
//
// Placement and order survive in the plan; a work-conserving runtime re-times them.

#ifndef TUTTI_POLICY_HEURISTIC_HEFT_H_
#define TUTTI_POLICY_HEURISTIC_HEFT_H_

#include "tutti/plan/policy.h"

namespace tutti {

class Heft : public Planner {
 public:
  Result<Plan> plan(const Problem& problem, const Budget& budget, uint64_t seed) override;
};

}  // namespace tutti

#endif  // TUTTI_POLICY_HEURISTIC_HEFT_H_
