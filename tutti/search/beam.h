// Beam search over a Select/Place pair: the pair says which op is next; every device it may go to
// is tried, and the most promising few drafts continue. The promise of a draft is a lower bound of
// its makespan: what is placed, and the longest path from there.

#ifndef TUTTI_SEARCH_BEAM_H_
#define TUTTI_SEARCH_BEAM_H_

#include "tutti/policy/registry.h"

namespace tutti {

// Over the choices of critical_path. Fails (infeasible) when memory leaves a ready op no device in
// every draft; (out_of_time) if it is stopped.
PolicyEntry beam_entry();

}  // namespace tutti

#endif  // TUTTI_SEARCH_BEAM_H_
