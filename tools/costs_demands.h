// tutti costs demands: what ops draw on memory, worked out from their sizes and run times.

#ifndef TUTTI_TOOLS_COSTS_DEMANDS_H_
#define TUTTI_TOOLS_COSTS_DEMANDS_H_

#include <CLI/CLI.hpp>

namespace tutti {

void add_costs_demands(CLI::App& costs, int& exit_code);

}  // namespace tutti

#endif  // TUTTI_TOOLS_COSTS_DEMANDS_H_
