// The critical path of a simulated run: the ops without whose waiting for each other the run would
// have ended sooner.

#ifndef TUTTI_SEARCH_CRITICAL_H_
#define TUTTI_SEARCH_CRITICAL_H_

#include <vector>

#include "tutti/search/judge.h"

namespace tutti {

// Walks back from the op that ended last: each op waited for the op before it on its device, if it
// started the moment that one ended, or else for the producer that ended last. `path` is replaced,
// last op first.
void critical_path_of(const Problem& problem, const Plan& plan, const Judge& judge,
                      std::vector<OpId>& path);

}  // namespace tutti

#endif  // TUTTI_SEARCH_CRITICAL_H_
