// What is probably wrong with the costs of a graph on a machine. What is certainly wrong,
// check_names (coverage.h) and Costs::build refuse.

#ifndef TUTTI_COSTS_WARNINGS_H_
#define TUTTI_COSTS_WARNINGS_H_

#include <string>
#include <vector>

#include "tutti/costs/costs.h"

namespace tutti {

// A sentence for each of: a row for an op that the graph lacks; ops whose work is unknown; run
// times measured on devices with other cores; ops without a time on some kind of device. `costs`
// were built from `spec`; the names of the files are for the sentences.
std::vector<std::string> cost_warnings(const Costs& costs, const CostSpec& spec,
                                       const std::string& graph_file,
                                       const std::string& costs_file);

}  // namespace tutti

#endif  // TUTTI_COSTS_WARNINGS_H_
