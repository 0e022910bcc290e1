// Windows say when each op can run at best: how early it may start, and how long the run goes on
// after its end. They are found from the start of the run and, the same way, from its end.
//
// Three reasons why op v cannot start at time s, each written for predecessors:
//
// 1. A predecessor u cannot have ended: s >= head(u) + run(u).
//
// 2. A predecessor on another device sends its value, which arrives at
//    arrival(u) = head(u) + run(u) + transfer(u, v) or later. So all u with arrival(u) > s share
//    v's device, and have run on its slots after their heads. Sorted by falling arrival, these are
//    the first m for some m, and the next one arrives by s:
//
//      s >= max(subset bound of the first m on one device, arrival(m + 1)).
//
//    The first grows with m and the second falls; the least of the maxima is where they cross. If
//    no device can run v and the first m, that m is out of the question. (This groups as in
//    Papadimitriou, Yannakakis, "Towards an architecture-independent analysis of parallel
//    algorithms", 1990, and Colin, Chretienne, "C.P.M. scheduling with small communication delays
//    and task duplication", 1991, but without duplication of ops.)
//
// 3. All ancestors of v must have run on all the slots, each with a gap of time before v: their
//    subset bound. (In the spirit of Jain, Rajaraman, "Lower and upper bounds on time for
//    multiprocessor optimal schedules", 1994.)

#ifndef TUTTI_PLAN_BOUND_WINDOWS_H_
#define TUTTI_PLAN_BOUND_WINDOWS_H_

#include <vector>

#include "tutti/plan/bound/gaps.h"
#include "tutti/plan/bound/instance.h"

namespace tutti::bound {

struct Windows {
  std::vector<Ticks> head;  // by op: it starts no earlier
  std::vector<Ticks> tail;  // by op: the run goes on for so long after its end
};

struct Reasons {
  bool transfers = false;  // the second: O(classes * m log^2 d) for m edges, d of them at one op
  const Gaps* gaps = nullptr;  // the third, unless empty: O(n^2 log n). Sharpens the second, too.
};

Windows find_windows(const Instance& instance, const Reasons& reasons);

// The run takes at least max over ops of head + run + tail.
Ticks longest_through(const Instance& instance, const Windows& windows);

}  // namespace tutti::bound

#endif  // TUTTI_PLAN_BOUND_WINDOWS_H_
