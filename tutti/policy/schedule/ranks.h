// Ranks: how far each op is from either end of the graph, in mean time. List schedulers order ops
// by them.

#ifndef TUTTI_POLICY_SCHEDULE_RANKS_H_
#define TUTTI_POLICY_SCHEDULE_RANKS_H_

#include <vector>

#include "tutti/plan/problem.h"

namespace tutti {

// What an edge counts for in a rank.
enum class EdgeWeight {
  all_pairs,       // mean over all ordered pairs of devices, a device with itself counting 0
  distinct_pairs,  // mean over the ordered pairs of different devices: it is always charged
};

// The factor from the mean over all ordered pairs to the wanted mean.
double edge_factor(const Problem& problem, EdgeWeight weight);

// rank(op) = mean run time + the longest path from op to the end of the graph, itself included.
std::vector<double> upward_ranks(const Problem& problem, EdgeWeight weight);

// rank(op) = the longest path from the start of the graph to op, itself not included.
std::vector<double> downward_ranks(const Problem& problem, EdgeWeight weight);

}  // namespace tutti

#endif  // TUTTI_POLICY_SCHEDULE_RANKS_H_
