// Minimum cut: ops and devices are halved together, again and again, so that the transfers between
// the halves are least and each half holds its devices' share of the work, by speed; devices far
// from each other are parted first. METIS does the cutting (Karypis, Kumar 1998);
// docs/adr/0007-metis.md says why.
//
// A cut knows nothing of time: it may give ops that could run at once to one device. So the graph
// is also cut with the work even in each of several bands of time (multi-constraint partitioning,
// Karypis, Kumar 1998b), and the plan of the least estimated makespan is taken; provenance.note
// says how many bands. Absent from the registry when tutti was built without METIS.

#ifndef TUTTI_POLICY_HEURISTIC_MIN_CUT_H_
#define TUTTI_POLICY_HEURISTIC_MIN_CUT_H_

#include "tutti/plan/policy.h"

namespace tutti {

class MinCut : public Planner {
 public:
  Result<Plan> plan(const Problem& problem, const Budget& budget, uint64_t seed) override;
};

}  // namespace tutti

#endif  // TUTTI_POLICY_HEURISTIC_MIN_CUT_H_
