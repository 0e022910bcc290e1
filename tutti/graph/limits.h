// The most that a graph file may state, so that sums of a graph's numbers stay exact. Every reader
// of graphs holds to these; times are held to kLongestTimeNs (base/time.h).

#ifndef TUTTI_GRAPH_LIMITS_H_
#define TUTTI_GRAPH_LIMITS_H_

#include <cstdint>

namespace tutti {

inline constexpr int64_t kMostBytes = int64_t{1} << 60;  // of one value
inline constexpr int kMostDimensions = 64;               // of one shape
inline constexpr double kMostFlops = 1e300;              // of one op

}  // namespace tutti

#endif  // TUTTI_GRAPH_LIMITS_H_
