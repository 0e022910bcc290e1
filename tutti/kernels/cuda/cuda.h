// The code of each kind for GPUs, for the table in kernel.cc. All have the contract of
// Kernel::cuda. Elements are f32 or bf16, computed in f32; matrix products are cuBLAS's, the rest
// is in device.h.

#ifndef TUTTI_KERNELS_CUDA_CUDA_H_
#define TUTTI_KERNELS_CUDA_CUDA_H_

#include "tutti/kernels/kernel.h"

namespace tutti::cuda {

using Operands = std::span<const ConstBlock>;
using Done = Result<void>;

// elements.cc: element by element.
Kernel::CudaCode add, subtract, multiply, scale, relu, relu_gradient, silu, sum, max;

// lines.cc: along one index.
Kernel::CudaCode softmax, rms_norm, rope, reduce_sum, reduce_max;

// layout.cc: moving elements about.
Kernel::CudaCode transpose, assemble, slice, embedding, last_token;

// matmul.cc: products in index notation.
Kernel::CudaCode matmul;

// tiles.cc: the tiles of a Cholesky factorisation.
Kernel::CudaCode potrf, trsm, syrk, gemm;

}  // namespace tutti::cuda

#endif  // TUTTI_KERNELS_CUDA_CUDA_H_
