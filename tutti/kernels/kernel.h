// A Kernel is the code that runs one kind of op. What the kind makes and how much work that is
// stands in tutti/graph/kind/kind.h; each kind there has a row here.
//
// The reference is written to be read, not to be fast: it is what other code for the same kind is
// held to.

#ifndef TUTTI_KERNELS_KERNEL_H_
#define TUTTI_KERNELS_KERNEL_H_

#include <span>
#include <string_view>

#include "tutti/kernels/tensor.h"

namespace tutti {

struct Kernel {
  std::string_view kind;
  // Fills `output`, which has the shape that infer_op gives and holds zeros. Fails where the
  // numbers themselves are wrong: an id outside its table, a matrix that is not positive definite.
  Result<void> (*reference)(const Attributes& attributes, std::span<const Tensor* const> operands,
                            Tensor& output);
};

// By kind.
std::span<const Kernel> kernels();

// Checks the operands and runs the reference. Fails with one sentence if the kind is unknown, the
// operands do not fit, or the numbers are wrong.
Result<Tensor> run_reference(std::string_view kind, const Attributes& attributes,
                             std::span<const Tensor* const> operands);

}  // namespace tutti

#endif  // TUTTI_KERNELS_KERNEL_H_
