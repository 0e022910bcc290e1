// The code of each kind for CPUs, for the table in kernel.cc. All have the contract of Kernel::cpu:
// float32 (embedding's ids may be i32), one thread, no locks; matrix products are OpenBLAS's, the
// rest is loops that the compiler makes into vector instructions.

#ifndef TUTTI_KERNELS_CPU_CPU_H_
#define TUTTI_KERNELS_CPU_CPU_H_

#include "tutti/kernels/kernel.h"

namespace tutti::cpu {

using Operands = std::span<const ConstBlock>;
using Done = Result<void>;

// elements.cc: element by element. The same bytes with any number of parts.
Done add(const Attributes& attributes, Operands operands, const Block& output, Part part);
Done subtract(const Attributes& attributes, Operands operands, const Block& output, Part part);
Done multiply(const Attributes& attributes, Operands operands, const Block& output, Part part);
Done scale(const Attributes& attributes, Operands operands, const Block& output, Part part);
Done relu(const Attributes& attributes, Operands operands, const Block& output, Part part);
Done relu_gradient(const Attributes& attributes, Operands operands, const Block& output, Part part);
Done silu(const Attributes& attributes, Operands operands, const Block& output, Part part);
Done sum(const Attributes& attributes, Operands operands, const Block& output, Part part);
Done max(const Attributes& attributes, Operands operands, const Block& output, Part part);

// softmax.cc, norm.cc, rope.cc, reduce.cc: along one index. Parts take whole lines along it.
Done softmax(const Attributes& attributes, Operands operands, const Block& output, Part part);
Done rms_norm(const Attributes& attributes, Operands operands, const Block& output, Part part);
Done rope(const Attributes& attributes, Operands operands, const Block& output, Part part);
Done reduce_sum(const Attributes& attributes, Operands operands, const Block& output, Part part);
Done reduce_max(const Attributes& attributes, Operands operands, const Block& output, Part part);

// layout.cc: moving elements about.
Done transpose(const Attributes& attributes, Operands operands, const Block& output, Part part);
Done assemble(const Attributes& attributes, Operands operands, const Block& output, Part part);
Done slice(const Attributes& attributes, Operands operands, const Block& output, Part part);
Done embedding(const Attributes& attributes, Operands operands, const Block& output, Part part);
Done last_token(const Attributes& attributes, Operands operands, const Block& output, Part part);

// matmul.cc: products in index notation. Parts take rows or columns of the result.
Done matmul(const Attributes& attributes, Operands operands, const Block& output, Part part);

// tiles.cc: the tiles of a Cholesky factorisation. Parts take rows; potrf is not split.
Done potrf(const Attributes& attributes, Operands operands, const Block& output, Part part);
Done trsm(const Attributes& attributes, Operands operands, const Block& output, Part part);
Done syrk(const Attributes& attributes, Operands operands, const Block& output, Part part);
Done gemm(const Attributes& attributes, Operands operands, const Block& output, Part part);

}  // namespace tutti::cpu

#endif  // TUTTI_KERNELS_CPU_CPU_H_
