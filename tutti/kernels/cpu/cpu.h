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
Kernel::CpuCode add, subtract, multiply, scale, relu, relu_gradient, silu, sum, max;

// softmax.cc, norm.cc, rope.cc, reduce.cc: along one index. Parts take whole lines along it.
Kernel::CpuCode softmax, rms_norm, rope, reduce_sum, reduce_max;

// layout.cc: moving elements about.
Kernel::CpuCode transpose, assemble, slice, embedding, last_token;

// matmul.cc: products in index notation. Parts take rows or columns of the result.
Kernel::CpuCode matmul;

// tiles.cc: the tiles of a Cholesky factorisation. Parts take rows; potrf is not split.
Kernel::CpuCode potrf, trsm, syrk, gemm;

}  // namespace tutti::cpu

#endif  // TUTTI_KERNELS_CPU_CPU_H_
