// How large a graph is made at most. Every spec carries the limit, so that who makes graphs for
// others can set a lower one.

#ifndef TUTTI_GRAPH_MAKE_MADE_H_
#define TUTTI_GRAPH_MAKE_MADE_H_

#include "tutti/base/result.h"

namespace tutti {

// The most ops and edges together that are made: a few GB of memory.
inline constexpr double kMostMade = 1 << 24;

// Fails if a graph of so many ops and edges is more than is made.
Result<void> check_made(double ops_and_edges, double most = kMostMade);

}  // namespace tutti

#endif  // TUTTI_GRAPH_MAKE_MADE_H_
