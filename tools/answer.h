// The first line of a result: makespan, gap to the bound, and what the best single device takes.

#ifndef TUTTI_TOOLS_ANSWER_H_
#define TUTTI_TOOLS_ANSWER_H_

#include <optional>
#include <string>

#include "tutti/plan/bound.h"
#include "tutti/plan/problem.h"
#include "tutti/runtime/sim/sim.h"

namespace tutti {

// The baseline: all ops on the best single device, simulated; the mean over `runs` seeds from
// `seed` on. None if no single device can run the graph.
std::optional<Duration> single_device_makespan(const Problem& problem, SimModel model,
                                               ReadyOrder order, uint64_t seed, int runs);

// Of gap_to.
std::string gap_text(double gap);

std::string answer_line(const std::string& policy, Duration makespan, const Bounds& bounds,
                        std::optional<Duration> single_device);

}  // namespace tutti

#endif  // TUTTI_TOOLS_ANSWER_H_
