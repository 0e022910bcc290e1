// Plans of one problem that differ much, from good to poor: what a simulator has to tell apart.

#ifndef TUTTI_CALIBRATE_PLANS_H_
#define TUTTI_CALIBRATE_PLANS_H_

#include <vector>

#include "tutti/base/stop.h"
#include "tutti/plan/plan.h"
#include "tutti/plan/problem.h"

namespace tutti {

// Up to `count` different plans that pass the check: those given, one of each policy that plans
// without searching (of critical path two, with ties drawn again), and these with some of their ops
// moved, few or many, anywhere or all to one device. Fewer where the problem has no more, or time
// is up. The same seed gives the same.
std::vector<Plan> diverse_plans(const Problem& problem, std::vector<Plan> given, int count,
                                uint64_t seed, const Stop& stop = {});

}  // namespace tutti

#endif  // TUTTI_CALIBRATE_PLANS_H_
