// Run times of commands for which none is known. Every op of a graph of commands is a program that
// takes time: with a time of 0 a planner would put them all in one place. So commands without a
// time are assumed to be equal.

#ifndef TUTTI_COSTS_ASSUMED_H_
#define TUTTI_COSTS_ASSUMED_H_

#include "tutti/costs/costs.h"

namespace tutti {

struct AssumedTimes {
  int32_t commands = 0;  // how many had no time
  Duration each{0};
};

// Adds a time to `spec` for each command that has neither a given time (for any kind of device) nor
// a row by its name or kind: the median of the given times of the other commands, or a second.
AssumedTimes assume_equal_commands(const Graph& graph, CostSpec& spec);

}  // namespace tutti

#endif  // TUTTI_COSTS_ASSUMED_H_
