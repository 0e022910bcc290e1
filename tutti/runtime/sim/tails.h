// The least time from an op's start to the end of the graph: the longest way, each op at its
// quickest, transfers free. No plan can be done sooner once the op has started.

#ifndef TUTTI_RUNTIME_SIM_TAILS_H_
#define TUTTI_RUNTIME_SIM_TAILS_H_

#include <vector>

#include "tutti/plan/problem.h"

namespace tutti {

// By op.
std::vector<Duration> least_tails(const Problem& problem);

}  // namespace tutti

#endif  // TUTTI_RUNTIME_SIM_TAILS_H_
