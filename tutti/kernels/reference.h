// The reference of each kind, for the table in kernel.cc. All have the contract of
// Kernel::reference.

#ifndef TUTTI_KERNELS_REFERENCE_H_
#define TUTTI_KERNELS_REFERENCE_H_

#include "tutti/kernels/kernel.h"

namespace tutti::reference {

using Operands = std::span<const Tensor* const>;

// reference_elements.cc: element by element.
Result<void> add(const Attributes& attributes, Operands operands, Tensor& output);
Result<void> subtract(const Attributes& attributes, Operands operands, Tensor& output);
Result<void> multiply(const Attributes& attributes, Operands operands, Tensor& output);
Result<void> scale(const Attributes& attributes, Operands operands, Tensor& output);
Result<void> relu(const Attributes& attributes, Operands operands, Tensor& output);
Result<void> relu_gradient(const Attributes& attributes, Operands operands, Tensor& output);
Result<void> silu(const Attributes& attributes, Operands operands, Tensor& output);
Result<void> sum(const Attributes& attributes, Operands operands, Tensor& output);
Result<void> max(const Attributes& attributes, Operands operands, Tensor& output);

// reference_axes.cc: along one index.
Result<void> softmax(const Attributes& attributes, Operands operands, Tensor& output);
Result<void> rms_norm(const Attributes& attributes, Operands operands, Tensor& output);
Result<void> rope(const Attributes& attributes, Operands operands, Tensor& output);
Result<void> reduce_sum(const Attributes& attributes, Operands operands, Tensor& output);
Result<void> reduce_max(const Attributes& attributes, Operands operands, Tensor& output);

// reference_layout.cc: moving elements about.
Result<void> transpose(const Attributes& attributes, Operands operands, Tensor& output);
Result<void> assemble(const Attributes& attributes, Operands operands, Tensor& output);
Result<void> slice(const Attributes& attributes, Operands operands, Tensor& output);
Result<void> embedding(const Attributes& attributes, Operands operands, Tensor& output);
Result<void> last_token(const Attributes& attributes, Operands operands, Tensor& output);

// reference_products.cc: matrix products and the tiles of a Cholesky factorisation.
Result<void> matmul(const Attributes& attributes, Operands operands, Tensor& output);
Result<void> potrf(const Attributes& attributes, Operands operands, Tensor& output);
Result<void> trsm(const Attributes& attributes, Operands operands, Tensor& output);
Result<void> syrk(const Attributes& attributes, Operands operands, Tensor& output);
Result<void> gemm(const Attributes& attributes, Operands operands, Tensor& output);

}  // namespace tutti::reference

#endif  // TUTTI_KERNELS_REFERENCE_H_
