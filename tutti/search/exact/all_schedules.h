// The best of all schedules, including those that keep a device idle on purpose, by branch and
// bound. Compared with the best work-conserving plan it gives the price of work conservation.

#ifndef TUTTI_SEARCH_EXACT_ALL_SCHEDULES_H_
#define TUTTI_SEARCH_EXACT_ALL_SCHEDULES_H_

#include "tutti/search/exact/incumbent.h"

namespace tutti {

// The plan carries a strict order per device and the times of the schedule, unless it is the
// start's. Fails (invalid_input) where transfers meet, memory is limited, or a device has several
// slots; (failed) if the budget's evaluations end before there is a schedule.
Result<ExactPlan> best_schedule(const Problem& problem, const Budget& budget,
                                const ExactStart& start = {});

}  // namespace tutti

#endif  // TUTTI_SEARCH_EXACT_ALL_SCHEDULES_H_
