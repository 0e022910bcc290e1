// List scheduling by a Decider: it is asked about one job that comes to an idle machine at time 0.
// An op that it executes starts as soon as its operands can be there; time moves on to the next
// start or end, by mean run times and transfers without contention.
//
// Deciders know neither colocation groups nor limits on memory. Where these leave an op other
// devices than the one it was given to, it goes to the one of them on which it can start first.

#ifndef TUTTI_POLICY_ONLINE_PLAN_BY_DECIDER_H_
#define TUTTI_POLICY_ONLINE_PLAN_BY_DECIDER_H_

#include "tutti/plan/policy.h"
#include "tutti/plan/world/decider.h"

namespace tutti {

// Fails (infeasible) when memory leaves an op no device, and as Cluster::make does.
Result<Plan> plan_by_decider(Decider& decider, const Problem& problem, const Budget& budget,
                             uint64_t seed);

}  // namespace tutti

#endif  // TUTTI_POLICY_ONLINE_PLAN_BY_DECIDER_H_
