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
Done add(const Attributes& attributes, Operands operands, const Block& output, CudaLane& lane);
Done subtract(const Attributes& attributes, Operands operands, const Block& output, CudaLane& lane);
Done multiply(const Attributes& attributes, Operands operands, const Block& output, CudaLane& lane);
Done scale(const Attributes& attributes, Operands operands, const Block& output, CudaLane& lane);
Done relu(const Attributes& attributes, Operands operands, const Block& output, CudaLane& lane);
Done relu_gradient(const Attributes& attributes, Operands operands, const Block& output,
                   CudaLane& lane);
Done silu(const Attributes& attributes, Operands operands, const Block& output, CudaLane& lane);
Done sum(const Attributes& attributes, Operands operands, const Block& output, CudaLane& lane);
Done max(const Attributes& attributes, Operands operands, const Block& output, CudaLane& lane);

// lines.cc: along one index.
Done softmax(const Attributes& attributes, Operands operands, const Block& output, CudaLane& lane);
Done rms_norm(const Attributes& attributes, Operands operands, const Block& output, CudaLane& lane);
Done rope(const Attributes& attributes, Operands operands, const Block& output, CudaLane& lane);
Done reduce_sum(const Attributes& attributes, Operands operands, const Block& output,
                CudaLane& lane);
Done reduce_max(const Attributes& attributes, Operands operands, const Block& output,
                CudaLane& lane);

// layout.cc: moving elements about.
Done transpose(const Attributes& attributes, Operands operands, const Block& output,
               CudaLane& lane);
Done assemble(const Attributes& attributes, Operands operands, const Block& output, CudaLane& lane);
Done slice(const Attributes& attributes, Operands operands, const Block& output, CudaLane& lane);
Done embedding(const Attributes& attributes, Operands operands, const Block& output,
               CudaLane& lane);
Done last_token(const Attributes& attributes, Operands operands, const Block& output,
                CudaLane& lane);

// matmul.cc: products in index notation.
Done matmul(const Attributes& attributes, Operands operands, const Block& output, CudaLane& lane);

// tiles.cc: the tiles of a Cholesky factorisation.
Done potrf(const Attributes& attributes, Operands operands, const Block& output, CudaLane& lane);
Done trsm(const Attributes& attributes, Operands operands, const Block& output, CudaLane& lane);
Done syrk(const Attributes& attributes, Operands operands, const Block& output, CudaLane& lane);
Done gemm(const Attributes& attributes, Operands operands, const Block& output, CudaLane& lane);

}  // namespace tutti::cuda

#endif  // TUTTI_KERNELS_CUDA_CUDA_H_
