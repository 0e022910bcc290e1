// What can be said of a graph's form alone: levels, critical path, components. Times come from the
// caller, so that any costs may be asked about. Everything takes time linear in ops and edges.

#ifndef TUTTI_GRAPH_ANALYSIS_H_
#define TUTTI_GRAPH_ANALYSIS_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "tutti/graph/graph.h"

namespace tutti {

struct Levels {
  // By op: how many ops the longest way to it passes before it; 0 where no operand is made by an
  // op.
  std::vector<int32_t> of_op;
  int32_t depth = 0;  // levels there are: the ops on the longest way through the graph
  int32_t width = 0;  // ops on the largest level
};
Levels levels(const Graph& graph);

struct CriticalPath {
  Duration length{0};     // kNever where the sum would pass it
  std::vector<OpId> ops;  // from first to last; of equal paths, one through the lowest ids
};
// The longest way through the graph. An edge that reads a graph input takes no time here.
CriticalPath critical_path(const Graph& graph, const std::function<Duration(OpId)>& run_time,
                           const std::function<Duration(EdgeId)>& transfer_time);

struct Components {
  int32_t count = 0;
  std::vector<int32_t> of_op;  // numbered by their lowest op
};
// Parts that exchange no values. Ops that merely read the same graph input are not joined by it.
Components components(const Graph& graph);

}  // namespace tutti

#endif  // TUTTI_GRAPH_ANALYSIS_H_
