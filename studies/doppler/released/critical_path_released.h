// The CRITICAL PATH baseline as Doppler's authors released it (Yao et al. 2025), with its two
// defects, for comparison with published figures only:
//
// 1. Selection counts the ops that share the highest b-level, draws an index below that count, and
//    uses it on the list of all ready ops instead of on the list of tied ones. It therefore takes
//    one of the oldest ready ops, whatever its b-level.
// 2. An op's start is booked as the sum of the run times already on the device; waiting for
//    transfers is forgotten. The earliest start is estimated from those bookings.

#ifndef TUTTI_STUDIES_DOPPLER_RELEASED_CRITICAL_PATH_RELEASED_H_
#define TUTTI_STUDIES_DOPPLER_RELEASED_CRITICAL_PATH_RELEASED_H_

#include "tutti/plan/policy.h"

namespace tutti {

// Obeys the devices an op may use and colocation; refuses (infeasible) if memory does not hold the
// placement. Emits no timeline: its own bookings are not a schedule.
Result<Plan> plan_critical_path_released(const Problem& problem, const Budget& budget,
                                         uint64_t seed);

}  // namespace tutti

#endif  // TUTTI_STUDIES_DOPPLER_RELEASED_CRITICAL_PATH_RELEASED_H_
