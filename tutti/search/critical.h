// The critical path of the judge's last simulation: the ops that decided when it ended.
//
// It is the ops' part of the path that tutti/trace/critical_path.h finds in a trace, and the same
// where no transfer had to wait for another or for room: what else held a transfer up the simulator
// does not note, as that would cost a search too much.

#ifndef TUTTI_SEARCH_CRITICAL_H_
#define TUTTI_SEARCH_CRITICAL_H_

#include <vector>

#include "tutti/search/judge.h"

namespace tutti {

// Walks back from the op that ended last to what decided its start, and so on: the op whose value
// arrived last, or the op that held its slot. `path` is replaced, last op first.
void critical_path_of(const Graph& graph, const Judge& judge, std::vector<OpId>& path);

}  // namespace tutti

#endif  // TUTTI_SEARCH_CRITICAL_H_
