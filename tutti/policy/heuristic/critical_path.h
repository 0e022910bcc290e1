// Critical path list scheduling: of the ready ops the one with the longest way to the end of the
// graph (b-level, transfers always charged), on the device where it can start earliest. Ties are
// broken at random. This is the CRITICAL PATH baseline and teacher of Doppler (Yao et al. 2025),
// done correctly; what was released under that name is in critical_path_released.h.

#ifndef TUTTI_POLICY_HEURISTIC_CRITICAL_PATH_H_
#define TUTTI_POLICY_HEURISTIC_CRITICAL_PATH_H_

#include "tutti/plan/policy.h"

namespace tutti {

Policy critical_path_policy(const Problem& problem, uint64_t seed);

}  // namespace tutti

#endif  // TUTTI_POLICY_HEURISTIC_CRITICAL_PATH_H_
