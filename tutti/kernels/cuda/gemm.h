// Products of matrices in rows, which cuBLAS, whose matrices are in columns, does turned round.

#ifndef TUTTI_KERNELS_CUDA_GEMM_H_
#define TUTTI_KERNELS_CUDA_GEMM_H_

#include <array>

#include "tutti/graph/graph.h"
#include "tutti/kernels/cuda/lane.h"

namespace tutti::cuda {

// In rows `step` elements apart or, if turned, in columns.
struct GemmMatrix {
  const void* data;
  int64_t step;
  bool turned = false;
};

// `count` products, with so many elements between the matrices of each operand and of the result.
struct GemmBatch {
  int64_t rows;
  int64_t columns;
  int64_t inner;
  int64_t count = 1;
  std::array<int64_t, 3> strides{};
  float alpha = 1;
  float beta = 0;
};

// out = alpha a b + beta out, all of one dtype, f32 or bf16, with sums in f32. `out` is in rows and
// is not read if beta is 0.
Result<void> multiply(const CudaLane::Blas& blas, DType dtype, const GemmBatch& batch,
                      const GemmMatrix& a, const GemmMatrix& b, void* out, int64_t out_step);

}  // namespace tutti::cuda

#endif  // TUTTI_KERNELS_CUDA_GEMM_H_
