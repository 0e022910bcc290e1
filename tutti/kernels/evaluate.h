// Runs a whole graph with the reference kernels, on one thread, in double precision. It is slow and
// keeps every value: it is for small graphs, to say what the right answer is.

#ifndef TUTTI_KERNELS_EVALUATE_H_
#define TUTTI_KERNELS_EVALUATE_H_

#include <vector>

#include "tutti/base/stop.h"
#include "tutti/graph/graph.h"
#include "tutti/kernels/tensor.h"

namespace tutti {

// `values` holds a tensor for each value of the graph, of which those of graph inputs are read. The
// result has them all. Fails, naming the op, if a kind has no kernel, operands do not fit, or a
// value comes out in another shape than the graph says; or if it was stopped between two ops.
Result<std::vector<Tensor>> evaluate(const Graph& graph, std::vector<Tensor> values,
                                     const Stop& stop = {});

}  // namespace tutti

#endif  // TUTTI_KERNELS_EVALUATE_H_
