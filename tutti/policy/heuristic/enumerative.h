// The enumerative optimiser, Doppler's expert baseline (Yao et al. 2025; its code was not released,
// this follows the paper's description): group after group in topological order, the ops of a group
// (the blocks of one tensor operation) are divided evenly over the devices so that the operands
// that must be brought over take the least time; then each reduction, an op that reads its own
// group's results, goes where its operands cost least.
//
// Divisions are enumerated while there are at most 10^6 of them and all groups together have not
// taken 10^7 steps. Beyond,
// the cheapest is found as a transportation problem, which cannot see that two ops on one device
// share an operand, and is then repaired by swaps with the true cost; beyond 32 devices ops are
// placed one by one. provenance.note says how often each was used.
//
// Departures: transfer time takes the place of bytes, and "evenly" means by run time, so that a
// slow device gets fewer ops. In a graph without groups the ops of one kind and level stand for
// one.

#ifndef TUTTI_POLICY_HEURISTIC_ENUMERATIVE_H_
#define TUTTI_POLICY_HEURISTIC_ENUMERATIVE_H_

#include "tutti/plan/policy.h"

namespace tutti {

class Enumerative : public Planner {
 public:
  Result<Plan> plan(const Problem& problem, const Budget& budget, uint64_t seed) override;
};

}  // namespace tutti

#endif  // TUTTI_POLICY_HEURISTIC_ENUMERATIVE_H_
