// The same graph with its ops in another order and its costs a little different, so that no
// comparison is decided by ids, ties, or what a method happened to be tuned on.

#ifndef TUTTI_GRAPH_MAKE_PERTURB_H_
#define TUTTI_GRAPH_MAKE_PERTURB_H_

#include <cstdint>

#include "tutti/base/result.h"
#include "tutti/graph/graph.h"

namespace tutti {

struct PerturbSpec {
  uint64_t seed = 1;
  double spread = 0.05;  // each number is multiplied by a factor between 1 - spread and 1 + spread
  double bytes_times = 1;  // and all bytes of values by this, for more or less communication
};

// Ops keep their names, kinds, attributes and operands. Flops, bytes and given times are
// multiplied, each by a factor of its own; shapes are dropped, since they would no longer say the
// bytes. Fails if the spread is not in [0, 1), or bytes_times not
// from a thousandth to a thousand.
Result<Graph> perturbed(const Graph& graph, const PerturbSpec& spec);

}  // namespace tutti

#endif  // TUTTI_GRAPH_MAKE_PERTURB_H_
