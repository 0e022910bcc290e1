// Critical Path on a Processor (Topcuoglu, Hariri, Wu; TPDS 2002), with insertion: the ready op of
// the highest upward plus downward rank goes next; ops of the critical path all go to the device
// that runs that path quickest, the others to the device that finishes them first. Mean transfers
// are counted as in heft.h. Ops of the path that constraints keep from that device, or bind to
// others, go where they finish first.

#ifndef TUTTI_POLICY_HEURISTIC_CPOP_H_
#define TUTTI_POLICY_HEURISTIC_CPOP_H_

#include "tutti/plan/policy.h"

namespace tutti {

class Cpop : public Planner {
 public:
  Result<Plan> plan(const Problem& problem, const Budget& budget, uint64_t seed) override;
};

}  // namespace tutti

#endif  // TUTTI_POLICY_HEURISTIC_CPOP_H_
