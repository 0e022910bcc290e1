// The smallest policy: any ready op, on any device that may run it. Copy this to write your own.

#ifndef TUTTI_POLICY_HEURISTIC_RANDOM_H_
#define TUTTI_POLICY_HEURISTIC_RANDOM_H_

#include "tutti/plan/policy.h"

namespace tutti {

Policy random_policy(const Problem& problem, uint64_t seed);

}  // namespace tutti

#endif  // TUTTI_POLICY_HEURISTIC_RANDOM_H_
