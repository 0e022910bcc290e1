// The best work-conserving plan, by enumeration: every placement, and for each every way of
// choosing among the ops that wait for a slot, as far as bounds do not rule them out. For small
// problems, and the measure of everything that only searches.

#ifndef TUTTI_SEARCH_EXACT_WORK_CONSERVING_H_
#define TUTTI_SEARCH_EXACT_WORK_CONSERVING_H_

#include "tutti/plan/policy.h"

namespace tutti {

struct ExactPlan {
  Plan plan;
  Duration makespan{kNever};
  bool proven = false;  // false: the budget ended first, and this is the best so far
};

// The budget's evaluations count steps of the enumeration. Fails (invalid_input) where transfers
// meet or memory is limited.
Result<ExactPlan> best_work_conserving(const Problem& problem, const Budget& budget);

}  // namespace tutti

#endif  // TUTTI_SEARCH_EXACT_WORK_CONSERVING_H_
