#include "tutti/kernels/cuda/gemm.h"

#include <algorithm>

#include "tutti/kernels/cuda/cublas.h"

namespace tutti::cuda {
namespace {

// A grid's third side: more products than that go in several calls.
constexpr int64_t kMostProducts = 65535;

template <class Address>
Address* moved(Address* address, int64_t elements, DType dtype) {
  using Bytes = std::conditional_t<std::is_const_v<Address>, const std::byte, std::byte>;
  return static_cast<Bytes*>(address) + elements * element_bytes(dtype);
}

}  // namespace

// In columns, out^T = b^T a^T; what is in rows is turned already.
Result<void> multiply(const CudaLane::Blas& blas, DType dtype, const GemmBatch& batch,
                      const GemmMatrix& a, const GemmMatrix& b, void* out, int64_t out_step) {
  const cudaDataType type = dtype == DType::f32 ? CUDA_R_32F : CUDA_R_16BF;
  const auto operation = [](const GemmMatrix& matrix) {
    return matrix.turned ? CUBLAS_OP_T : CUBLAS_OP_N;
  };
  const auto [a_stride, b_stride, out_stride] = batch.strides;
  for (int64_t begin = 0; begin < batch.count; begin += kMostProducts) {
    const cublasStatus_t status = blas.functions.multiply(
        blas.handle, operation(b), operation(a), batch.columns, batch.rows, batch.inner,
        &batch.alpha, moved(b.data, begin * b_stride, dtype), type, b.step, b_stride,
        moved(a.data, begin * a_stride, dtype), type, a.step, a_stride, &batch.beta,
        moved(out, begin * out_stride, dtype), type, out_step, out_stride,
        std::min(kMostProducts, batch.count - begin), CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
    if (auto multiplied = cublas_done(status, "a product fails"); !multiplied) {
      return multiplied.error();
    }
  }
  return {};
}

}  // namespace tutti::cuda
