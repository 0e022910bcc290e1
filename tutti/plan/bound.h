// Lower bounds: no run of the problem takes less time, however it is planned. Every plan is printed
// with its gap to the strongest of them; a gap of zero proves the plan optimal.
//
// They hold for every schedule, idle times included, and for every model of transfers in which a
// value never reaches another device sooner than the least Costs::least_transfer_time of its edges:
// one transfer per edge or one per value and destination, with contention or without. Constraints
// can only make a run longer; pins and forbidden pairs are taken into account, while memory,
// colocation and the transfers of graph inputs are not. The bounds speak of mean costs: a run with
// noise may be lucky and beat them.
//
// The proofs stand with the code, in tutti/plan/bound/.

#ifndef TUTTI_PLAN_BOUND_H_
#define TUTTI_PLAN_BOUND_H_

#include <algorithm>
#include <cstdint>

#include "tutti/base/time.h"
#include "tutti/plan/problem.h"

namespace tutti {

// Each holds on its own. The interval is never below load and path, nor communication below the
// interval.
struct Bounds {
  Duration load{0};           // all work, divided over unequal devices as well as can be
  Duration path{0};           // the longest chain, each op on its fastest device
  Duration interval{0};       // work that must be done between two points in time
  Duration communication{0};  // the same, where inputs share an op's device or pay a transfer

  Duration strongest() const {
    return std::max(std::max(load, path), std::max(interval, communication));
  }
};

// The largest graphs, in ops, for the methods that need more than about n log n steps. Beyond a
// limit the bounds get weaker, not wrong.
struct BoundLimits {
  int32_t ancestors = 600;        // windows from all ancestors of an op: n^2 memory, n^2 log n time
  int32_t energetic = 512;        // energetic reasoning: n^2 time per deadline
  int32_t exact_subset = 20'000;  // the subset bound, over a grid beyond that
};

// Takes up to some 50 ms for graphs below the limits, and about half a second for a million ops on
// equal devices.
Bounds lower_bounds(const Problem& problem, const BoundLimits& limits = {});

}  // namespace tutti

#endif  // TUTTI_PLAN_BOUND_H_
