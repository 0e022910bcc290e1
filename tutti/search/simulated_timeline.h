// The timeline of a plan's own simulation, for plans whose maker has none: those that a search
// found.

#ifndef TUTTI_SEARCH_SIMULATED_TIMELINE_H_
#define TUTTI_SEARCH_SIMULATED_TIMELINE_H_

#include <optional>

#include "tutti/search/evaluator.h"

namespace tutti {

// Replaces the plan's timeline and planned makespan by those of one run with mean durations, and
// gives its makespan. Leaves the plan without a timeline if it does not run, if the simulation was
// stopped (those of small graphs take milliseconds and are not), or under the released model, whose
// rules are not those that plans are checked by.
std::optional<Duration> give_timeline(const Problem& problem, const SearchModel& model,
                                      const Stop& stop, Plan& plan);

}  // namespace tutti

#endif  // TUTTI_SEARCH_SIMULATED_TIMELINE_H_
