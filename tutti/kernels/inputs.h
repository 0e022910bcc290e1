// Numbers for a graph's inputs, for runs that need some: the same for the same seed and value,
// whatever the device. Ids of tables are ids that the table has, tiles that are factored are
// positive definite, and weights are small enough that deep graphs stay finite.

#ifndef TUTTI_KERNELS_INPUTS_H_
#define TUTTI_KERNELS_INPUTS_H_

#include "tutti/graph/graph.h"
#include "tutti/kernels/block.h"
#include "tutti/kernels/tensor.h"

namespace tutti {

// True if a value of that dtype can be filled: f32, bf16, i32 and unknown (taken for f32).
bool can_fill(DType dtype);
// Fails (invalid_input), naming it, if a value is of a dtype that no kernel knows.
Result<void> check_dtypes(const Graph& graph);

// Fills a graph input. Requires a block of its shape, or of its bytes where the graph gives no
// shape, and a dtype that can be filled.
void fill_input(const Graph& graph, ValueId value, uint64_t seed, const Block& block);

// The same numbers as the block holds, for the reference.
Tensor input_tensor(const Graph& graph, ValueId value, uint64_t seed);

// The elements of a block in double precision.
Tensor to_tensor(const ConstBlock& block);

}  // namespace tutti

#endif  // TUTTI_KERNELS_INPUTS_H_
