// How large graphs may be: what a file may state, so that sums of a graph's numbers stay exact, and
// how many ops and edges are made. Every reader of graphs holds to these; times are held to
// kLongestTimeNs (base/time.h).

#ifndef TUTTI_GRAPH_LIMITS_H_
#define TUTTI_GRAPH_LIMITS_H_

#include <cstdint>

#include "tutti/base/result.h"

namespace tutti {

inline constexpr int64_t kMostBytes = int64_t{1} << 60;  // of one value
inline constexpr int kMostDimensions = 64;               // of one shape
inline constexpr double kMostFlops = 1e300;              // of one op

// The most ops and edges together that graph/make makes: a few GB of memory. Every spec carries the
// limit, so that a server can set a lower one.
inline constexpr double kMostMade = 1 << 24;

// Fails if a graph of so many ops and edges is too large to be made.
Result<void> check_made(double ops_and_edges, double most = kMostMade);

}  // namespace tutti

#endif  // TUTTI_GRAPH_LIMITS_H_
