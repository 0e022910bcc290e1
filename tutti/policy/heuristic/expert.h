// The expert's placement: each op on the device that its `shard` attribute names, counted from 0
// and taken modulo the number of devices (graph/groups.h). Whoever sharded the graph wrote down
// where a person would put each block; the order is plan-aware b-level.

#ifndef TUTTI_POLICY_HEURISTIC_EXPERT_H_
#define TUTTI_POLICY_HEURISTIC_EXPERT_H_

#include "tutti/plan/policy.h"

namespace tutti {

// Where constraints do not allow that device the next one that they allow is taken. Refuses
// (infeasible) a graph of which some op has no shard.
class Expert : public Planner {
 public:
  Result<Plan> plan(const Problem& problem, const Budget& budget, uint64_t seed) override;
};

}  // namespace tutti

#endif  // TUTTI_POLICY_HEURISTIC_EXPERT_H_
