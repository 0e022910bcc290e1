// What the exact methods need of a problem: every transfer takes its own time whatever else moves,
// and memory never runs out. Then a value arrives at a fixed time after its op has ended.

#ifndef TUTTI_SEARCH_EXACT_FREE_OF_CONTENTION_H_
#define TUTTI_SEARCH_EXACT_FREE_OF_CONTENTION_H_

#include "tutti/plan/problem.h"

namespace tutti {

// Fails (invalid_input) with a sentence that says which channel or memory is in the way.
Result<void> require_no_contention(const Problem& problem);

// When a graph input reaches a device; 0 if it is there from the start.
Duration input_arrival(const Problem& problem, ValueId input, DeviceId device);

}  // namespace tutti

#endif  // TUTTI_SEARCH_EXACT_FREE_OF_CONTENTION_H_
