// The best work-conserving plan, by branch and bound: every placement, and for each every way of
// choosing among the ops that wait for a slot, as far as bounds do not rule them out. For small
// problems, and the measure of everything that only searches.

#ifndef TUTTI_SEARCH_EXACT_WORK_CONSERVING_H_
#define TUTTI_SEARCH_EXACT_WORK_CONSERVING_H_

#include "tutti/search/exact/incumbent.h"

namespace tutti {

// The plan's priorities are the order in which ops start: with them the simulator has the same run.
// The start's plan, if there is one, must be of this problem and have no strict order. Fails
// (invalid_input) where transfers meet or memory is limited; (infeasible) never; (failed) if the
// budget's evaluations end before there is a plan.
Result<ExactPlan> best_work_conserving(const Problem& problem, const Budget& budget,
                                       const ExactStart& start = {});

}  // namespace tutti

#endif  // TUTTI_SEARCH_EXACT_WORK_CONSERVING_H_
