// Optimal plans for small problems: starts from the best plan that policies and a short search
// find, stops at once if its makespan is the lower bound, and else proves it by branch and bound or
// finds a better one.
//
// A plan that is called proven was replayed: it passes check_plan, the simulator gives it the
// makespan that the method claims, and no plan found on the way is shorter.

#ifndef TUTTI_SEARCH_EXACT_H_
#define TUTTI_SEARCH_EXACT_H_

#include "tutti/search/exact/incumbent.h"

namespace tutti {

struct ExactAnswer {
  ExactPlan work_conserving;
  // Of all schedules, never longer than the work-conserving one. Fails where a device has several
  // slots.
  Result<ExactPlan> any;
  Duration lower_bound{0};
};

// Both take mean durations. The budget's evaluations count the steps of each branch and bound; with
// neither count nor wall clock they take a second or two. Once it is over, each gives the best so
// far. Fail (invalid_input) where transfers meet or memory is limited, and as `auto` does where no
// plan is found.
Result<ExactPlan> solve_work_conserving(const Problem& problem, const Budget& budget);
Result<ExactAnswer> solve_exactly(const Problem& problem, const Budget& budget);

}  // namespace tutti

#endif  // TUTTI_SEARCH_EXACT_H_
