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

class CudaLane;  // tutti/kernels/cuda/lane.h

struct Kernel {
  // Whether the CPU's code shares its work out over parts, or the first part does it all.
  enum class Split : uint8_t { parts, none };

  std::string_view kind;
  // Fills `output`, which has the shape that infer_op gives and holds zeros. Fails where the
  // numbers themselves are wrong: an id outside its table, a matrix that is not positive definite.
  using Reference = Result<void>(const Attributes& attributes,
                                 std::span<const Tensor* const> operands, Tensor& output);
  Reference* reference;
  // Writes the part's share of `output`, which may hold anything and overlaps no operand. All is
  // f32; ids may be i32. Requires that run_cpu would find nothing wrong with operands and output,
  // and fails where the reference does, in the part that sees the wrong number; of several parts
  // that fail, the first has the reference's sentence. Starts no threads and waits for none.
  using CpuCode = Result<void>(const Attributes& attributes, std::span<const ConstBlock> operands,
                               const Block& output, Part part);
  CpuCode* cpu;
  Split split;
  // The same on a GPU, for whole ops: puts the work into the lane and returns, if need be before it
  // has ended. Addresses are of the GPU's memory. All is f32 or all is bf16; ids may be i32. Null
  // in a program built without CUDA.
  using CudaCode = Result<void>(const Attributes& attributes, std::span<const ConstBlock> operands,
                                const Block& output, CudaLane& lane);
  CudaCode* cuda;
};

// By kind.
std::span<const Kernel> kernels();

// Checks the operands and runs the reference. Fails with one sentence if the kind is unknown, the
// operands do not fit, or the numbers are wrong.
Result<Tensor> run_reference(std::string_view kind, const Attributes& attributes,
                             std::span<const Tensor* const> operands);

// Checks the operands in the same way, their dtypes, and the output's shape, and runs one part of
// the CPU's code. The checks read shapes alone: a caller that runs an op again may call
// Kernel::cpu.
Result<void> run_cpu(std::string_view kind, const Attributes& attributes,
                     std::span<const ConstBlock> operands, const Block& output, Part part = {});

// The same for the GPU's code.
Result<void> run_cuda(std::string_view kind, const Attributes& attributes,
                      std::span<const ConstBlock> operands, const Block& output, CudaLane& lane);

}  // namespace tutti

#endif  // TUTTI_KERNELS_KERNEL_H_
