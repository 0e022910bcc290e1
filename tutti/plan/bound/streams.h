// A bound from weights with homes that do not fit elsewhere (tutti/plan/weights.h). Each such
// weight is kept in another memory, or sent over links, or else all of its readers run on the
// memory where it is at home, which takes their time.

#ifndef TUTTI_PLAN_BOUND_STREAMS_H_
#define TUTTI_PLAN_BOUND_STREAMS_H_

#include "tutti/base/time.h"
#include "tutti/plan/problem.h"

namespace tutti::bound {

// No run of the problem takes less. Zero if there are no weights with homes, or some other memory
// is not limited (and loading is free).
Duration stream_bound(const Problem& problem);

}  // namespace tutti::bound

#endif  // TUTTI_PLAN_BOUND_STREAMS_H_
