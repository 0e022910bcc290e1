// OpenBLAS, opened when a product is first computed. It is not linked: the program starts without
// it, and a command that computes nothing does not start its threads.
//
// It is held to one thread for the whole process: tutti splits an op itself (Part), and threads of
// OpenBLAS's own would fight with those for the cores.

#ifndef TUTTI_KERNELS_CPU_BLAS_H_
#define TUTTI_KERNELS_CPU_BLAS_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "tutti/base/result.h"

namespace tutti::cpu {

// A matrix in memory: in rows `step` apart or, if turned, in columns `step` apart.
struct Matrix {
  const float* data;
  int64_t step;
  bool turned = false;
};

// The matrix whose elements are so far apart, if OpenBLAS can read it so.
std::optional<Matrix> as_matrix(const float* data, int64_t rows, int64_t columns, int64_t row_step,
                                int64_t column_step);

struct ProductSize {
  int64_t rows;
  int64_t columns;
  int64_t inner;
};

class Blas {
 public:
  // Sizes and steps beyond this are not OpenBLAS's to count.
  static constexpr int64_t kLargest = (int64_t{1} << 31) - 1;

  // Fails with one sentence if OpenBLAS is not there, or has too little memory. Any thread may call
  // it, at any time.
  static Result<const Blas*> open();

  // c = alpha a b + beta c, with c in rows `c_step` apart; it is not read if beta is 0.
  void multiply(const ProductSize& size, float alpha, const Matrix& a, const Matrix& b, float beta,
                float* c, int64_t c_step) const;
  // x = x l^-T, of a lower triangle l of `columns` rows; both without gaps.
  void solve_transposed(int64_t rows, int64_t columns, const float* l, float* x) const;
  // Replaces the lower triangle of a by its Cholesky factor. False: a is not positive definite.
  bool factor(int64_t rows, float* a) const;

 private:
  using Gemm = void (*)(int order, int turn_a, int turn_b, int m, int n, int k, float alpha,
                        const float* a, int a_step, const float* b, int b_step, float beta,
                        float* c, int c_step);
  using Trsm = void (*)(int order, int side, int triangle, int turn, int diagonal, int m, int n,
                        float alpha, const float* a, int a_step, float* b, int b_step);
  using Potrf = void (*)(const char* triangle, const int* n, float* a, const int* step, int* info,
                         size_t triangle_length);

  static Result<Blas> load();

  Gemm gemm_ = nullptr;
  Trsm trsm_ = nullptr;
  Potrf potrf_ = nullptr;
};

}  // namespace tutti::cpu

#endif  // TUTTI_KERNELS_CPU_BLAS_H_
