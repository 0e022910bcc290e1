// The reference of each kind, for the table in kernel.cc. All have the contract of
// Kernel::reference.

#ifndef TUTTI_KERNELS_REFERENCE_H_
#define TUTTI_KERNELS_REFERENCE_H_

#include "tutti/kernels/kernel.h"

namespace tutti::reference {

using Operands = std::span<const Tensor* const>;

// reference_elements.cc: element by element.
Kernel::Reference add, subtract, multiply, scale, relu, relu_gradient, silu, sum, max;

// reference_axes.cc: along one index.
Kernel::Reference softmax, rms_norm, rope, reduce_sum, reduce_max;

// reference_layout.cc: moving elements about.
Kernel::Reference transpose, assemble, slice, embedding, last_token;

// reference_products.cc: matrix products and the tiles of a Cholesky factorisation.
Kernel::Reference matmul, potrf, trsm, syrk, gemm;

}  // namespace tutti::reference

#endif  // TUTTI_KERNELS_REFERENCE_H_
