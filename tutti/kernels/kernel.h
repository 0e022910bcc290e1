// A Kernel is the code that runs one kind of op. What the kind makes and how much work that is
// stands in tutti/graph/kind/kind.h; each kind there has a row here.
//
// The reference is written to be read, not to be fast: it is what other code for the same kind is
// held to.

#ifndef TUTTI_KERNELS_KERNEL_H_
#define TUTTI_KERNELS_KERNEL_H_

#include <span>
#include <string_view>

#include "tutti/kernels/block.h"
#include "tutti/kernels/tensor.h"

namespace tutti {

struct Kernel {
  // Whether the CPU's code shares its work out over parts, or the first part does it all.
  enum class Split : uint8_t { parts, none };

  std::string_view kind;
  // Fills `output`, which has the shape that infer_op gives and holds zeros. Fails where the
  // numbers themselves are wrong: an id outside its table, a matrix that is not positive definite.
  Result<void> (*reference)(const Attributes& attributes, std::span<const Tensor* const> operands,
                            Tensor& output);
  // Writes the part's share of `output`, which may hold anything and overlaps no operand. All is
  // f32; ids may be i32. Requires that run_cpu would find nothing wrong with operands and output,
  // and fails where the reference does, in the part that sees the wrong number; of several parts
  // that fail, the first has the reference's sentence. Starts no threads and waits for none.
  Result<void> (*cpu)(const Attributes& attributes, std::span<const ConstBlock> operands,
                      const Block& output, Part part);
  Split split;
};

// By kind.
std::span<const Kernel> kernels();

// Checks the operands and runs the reference. Fails with one sentence if the kind is unknown, the
// operands do not fit, or the numbers are wrong.
Result<Tensor> run_reference(std::string_view kind, const Attributes& attributes,
                             std::span<const Tensor* const> operands);

// Checks the operands in the same way, their dtypes, and the output's shape, and runs one part of
// the CPU's code. The checks read shapes alone: who runs an op again may call Kernel::cpu.
Result<void> run_cpu(std::string_view kind, const Attributes& attributes,
                     std::span<const ConstBlock> operands, const Block& output, Part part = {});

}  // namespace tutti

#endif  // TUTTI_KERNELS_KERNEL_H_
