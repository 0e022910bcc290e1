// The best of all schedules, those that let a device wait on purpose among them: a mixed-integer
// program, solved by CBC. Beside the best work-conserving plan it gives the price of work
// conservation.
//
// Built only where CBC is there; otherwise it fails with a sentence.

#ifndef TUTTI_SEARCH_EXACT_ALL_SCHEDULES_H_
#define TUTTI_SEARCH_EXACT_ALL_SCHEDULES_H_

#include "tutti/search/exact/work_conserving.h"

namespace tutti {

// The plan carries a strict order per device and the times of the schedule. Fails (invalid_input)
// where transfers meet, memory is limited, or a device has several slots.
Result<ExactPlan> best_schedule(const Problem& problem, const Budget& budget);

}  // namespace tutti

#endif  // TUTTI_SEARCH_EXACT_ALL_SCHEDULES_H_
