// How far each op is from the ends of the graph, in mean time: the measures that list schedulers
// order ops by.

#ifndef TUTTI_POLICY_RANKS_H_
#define TUTTI_POLICY_RANKS_H_

#include <vector>

#include "tutti/plan/problem.h"

namespace tutti {

// What an edge counts for in a rank.
enum class EdgeWeight {
  all_pairs,       // mean over all ordered pairs of devices, a device with itself counting 0
  distinct_pairs,  // mean over the ordered pairs of different devices: it is always charged
};

// rank(op) = mean run time + the dearest way from op to the end of the graph, itself included.
std::vector<double> upward_ranks(const Problem& problem, EdgeWeight weight);

// rank(op) = the dearest way from the start of the graph to op, itself not included.
std::vector<double> downward_ranks(const Problem& problem, EdgeWeight weight);

}  // namespace tutti

#endif  // TUTTI_POLICY_RANKS_H_
