// cuBLAS solves and multiplies triangles in f32 alone: tiles of bf16 are widened into the lane's
// scratch for that, and the result is rounded once.

#include <cuda_runtime_api.h>

#include <algorithm>

#include "tutti/kernels/cpu/floats.h"
#include "tutti/kernels/cuda/blocks.h"
#include "tutti/kernels/cuda/cublas.h"
#include "tutti/kernels/cuda/cuda.h"
#include "tutti/kernels/cuda/error.h"
#include "tutti/kernels/cuda/gemm.h"
#include "tutti/kernels/cuda/lane.h"

namespace tutti::cuda {
namespace {

constexpr float kOne = 1;
constexpr float kMinusOne = -1;

Done copy_block(const ConstBlock& from, void* to, CudaLane& lane) {
  const auto bytes = static_cast<size_t>(cpu::product_of(from.shape) * element_bytes(from.dtype));
  return done(cudaMemcpyAsync(to, from.data, bytes, cudaMemcpyDeviceToDevice, lane.stream().get()),
              "the GPU failed");
}

// x = x l^-T, of a lower triangle l of `columns` rows, l_step apart; those of x are x_step apart.
// In columns it is l x^T, and l, whose rows are there columns, is an upper triangle turned round.
Done solve(const CudaLane::Blas& blas, int64_t rows, int64_t columns, const float* l,
           int64_t l_step, float* x, int64_t x_step) {
  return cublas_done(
      blas.functions.solve(blas.handle, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_T,
                           CUBLAS_DIAG_NON_UNIT, columns, rows, &kOne, l, l_step, x, x_step),
      "a triangle cannot be solved");
}

// Block by block: a block on the diagonal is factored, the rows below it are solved by it, and
// what is right of those is brought up to date.
Done factor(const CudaLane::Blas& blas, int64_t n, float* a, unsigned long long* wrong,
            CudaLane& lane) {
  for (int64_t begin = 0; begin < n; begin += kFactorBlock) {
    const int64_t size = std::min<int64_t>(kFactorBlock, n - begin);
    const int64_t rest = n - begin - size;
    float* corner = a + begin * n + begin;
    factor_block(lane.queue(), static_cast<int>(size), n, corner, begin, wrong);
    if (rest == 0) break;
    float* below = corner + size * n;
    if (auto solved = solve(blas, rest, size, corner, n, below, n); !solved) return solved.error();
    // The lower triangle in rows is the upper one in columns.
    const cublasStatus_t status =
        blas.functions.multiply_symmetric(blas.handle, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_T, rest,
                                          size, &kMinusOne, below, n, &kOne, below + size, n);
    if (auto updated = cublas_done(status, "a triangle cannot be updated"); !updated) {
      return updated.error();
    }
  }
  return launched();
}

// output = c - a b^T.
Done subtract_product(const ConstBlock& a, const ConstBlock& b, const ConstBlock& c,
                      const Block& output, CudaLane& lane) {
  if (cpu::product_of(output.shape) == 0) return {};
  if (auto copied = copy_block(c, output.data, lane); !copied) return copied.error();
  const int64_t inner = a.shape[1];
  if (inner == 0) return {};
  const Result<CudaLane::Blas> blas = lane.blas();
  if (!blas) return blas.error();
  return multiply(
      *blas, output.dtype,
      {.rows = output.shape[0], .columns = output.shape[1], .inner = inner, .alpha = -1, .beta = 1},
      {a.data, inner}, {b.data, inner, /*turned=*/true}, output.data, output.shape[1]);
}

}  // namespace

// Reads the lower triangle; the upper one of the result is 0.
Done potrf(const Attributes& /*attributes*/, Operands operands, const Block& output,
           CudaLane& lane) {
  const int64_t n = output.shape[0];
  if (n == 0) return {};
  const Result<CudaLane::Blas> blas = lane.blas();
  if (!blas) return blas.error();
  const bool narrow_output = output.dtype != DType::f32;
  auto* out = static_cast<float*>(output.data);
  if (narrow_output) {
    const Result<std::byte*> scratch = lane.scratch(n * n * static_cast<int64_t>(sizeof(float)));
    if (!scratch) return scratch.error();
    out = reinterpret_cast<float*>(*scratch);
  }
  const Result<unsigned long long*> wrong = lane.begin_search();
  if (!wrong) return wrong.error();
  lower_triangle(lane.queue(), element_of(output.dtype), n, operands[0].data, out);
  if (auto factored = factor(*blas, n, out, *wrong, lane); !factored) return factored.error();
  if (narrow_output) narrow(lane.queue(), n * n, out, output.data);
  if (auto started = launched(); !started) return started.error();
  const Result<std::optional<int64_t>> place = lane.end_search();
  if (!place) return place.error();
  if (*place) return invalid_input("potrf: the tile is not positive definite");
  return {};
}

Done trsm(const Attributes& /*attributes*/, Operands operands, const Block& output,
          CudaLane& lane) {
  const int64_t rows = output.shape[0];
  const int64_t columns = output.shape[1];
  if (rows * columns == 0) return {};
  const Result<CudaLane::Blas> blas = lane.blas();
  if (!blas) return blas.error();
  if (output.dtype == DType::f32) {
    if (auto copied = copy_block(operands[1], output.data, lane); !copied) return copied.error();
    return solve(*blas, rows, columns, static_cast<const float*>(operands[0].data), columns,
                 static_cast<float*>(output.data), columns);
  }
  const int64_t triangle = columns * columns;
  const Result<std::byte*> scratch =
      lane.scratch((triangle + rows * columns) * static_cast<int64_t>(sizeof(float)));
  if (!scratch) return scratch.error();
  auto* l = reinterpret_cast<float*>(*scratch);
  float* x = l + triangle;
  widen(lane.queue(), triangle, operands[0].data, l);
  widen(lane.queue(), rows * columns, operands[1].data, x);
  if (auto solved = solve(*blas, rows, columns, l, columns, x, columns); !solved) {
    return solved.error();
  }
  narrow(lane.queue(), rows * columns, x, output.data);
  return launched();
}

Done syrk(const Attributes& /*attributes*/, Operands operands, const Block& output,
          CudaLane& lane) {
  return subtract_product(operands[0], operands[0], operands[1], output, lane);
}

Done gemm(const Attributes& /*attributes*/, Operands operands, const Block& output,
          CudaLane& lane) {
  return subtract_product(operands[0], operands[1], operands[2], output, lane);
}

}  // namespace tutti::cuda
