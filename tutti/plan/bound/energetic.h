// Energetic reasoning, used destructively: suppose the run ends by a deadline, show that some
// stretch of time would then hold more work than all slots can do, and so refute the deadline.
//
// With deadline T an op runs between head and T - tail. However it is shifted there, it occupies
// the stretch [a, b) for at least
//
//   max(0, min(run, b - a, head + run - a, b - (T - tail - run))).
//
// This grows with the run time, so the shortest over the devices is safe. (Erschler, Lopez,
// "Energy-based approach for task scheduling under time and resources constraints", 1990; Baptiste,
// Le Pape, Nuijten, "Satisfiability tests and time-bound adjustments for cumulative scheduling
// problems", 1999; destructive bounds: Klein, Scholl, "Computing lower bounds by destructive
// improvement", 1999.)

#ifndef TUTTI_PLAN_BOUND_ENERGETIC_H_
#define TUTTI_PLAN_BOUND_ENERGETIC_H_

#include "tutti/plan/bound/instance.h"
#include "tutti/plan/bound/windows.h"

namespace tutti::bound {

// Raises a bound that is known to hold: the result is at least `known`. O(n^2) for each
// deadline tried, and few are.
Ticks energetic_bound(const Instance& instance, const Windows& windows, Ticks known);

}  // namespace tutti::bound

#endif  // TUTTI_PLAN_BOUND_ENERGETIC_H_
