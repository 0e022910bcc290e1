// What the exact methods need of a problem: every transfer takes its own time whatever else moves,
// and memory never runs out. Then a value arrives at a fixed time after its op has ended.

#ifndef TUTTI_SEARCH_EXACT_FREE_OF_CONTENTION_H_
#define TUTTI_SEARCH_EXACT_FREE_OF_CONTENTION_H_

#include "tutti/plan/problem.h"

namespace tutti {

// Fails (invalid_input) with a sentence that says which channel or memory is in the way.
Result<void> require_no_contention(const Problem& problem);

// The most that any of the methods takes.
inline constexpr int32_t kMostExactOps = 1000;

// Fails (invalid_input) if the graph has more ops than that.
Result<void> require_few_ops(const Problem& problem, int32_t most);

}  // namespace tutti

#endif  // TUTTI_SEARCH_EXACT_FREE_OF_CONTENTION_H_
