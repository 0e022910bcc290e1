// Lower bounds: no run of the problem takes less time, however it is planned. Every plan is printed
// with its gap to the strongest of them; a gap of zero proves the plan optimal.
//
// They hold for every schedule, idle times included, and for every model of transfers in which a
// value never reaches another device sooner than the least Costs::least_transfer_time of its edges:
// one transfer per edge or one per value and destination, with contention or without. Constraints
// can only make a run longer; pins and forbidden pairs are taken into account, while colocation is
// not, and memory and the transfers of graph inputs only for weights with homes (streams). The
// bounds speak of mean costs: a run with noise may be lucky and beat them.
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
  Duration load_per_pass{0};  // the same if the graph is run again and again; never above load
  Duration path{0};           // the longest chain, each op on its fastest device
  Duration interval{0};       // work that must be done between two points in time
  Duration communication{0};  // the same, where inputs share an op's device or pay a transfer
  // Weights with homes that memories cannot hold: they are streamed, or their readers run at home.
  Duration streams{0};

  Duration strongest() const { return std::max({load, path, interval, communication, streams}); }
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

// If the graph is run again and again, with at most `in_flight` passes begun and not ended: no plan
// has a shorter time per pass in the long run. The proof is in bound.cc.
Duration bound_per_pass(const Problem& problem, const Bounds& bounds, int in_flight);

// makespan / bound - 1; NaN if the bound is 0 (JSON: null).
double gap_to(Duration bound, double makespan_ns);

}  // namespace tutti

#endif  // TUTTI_PLAN_BOUND_H_
