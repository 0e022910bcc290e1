#include "tutti/kernels/cpu/blas.h"

#include <dlfcn.h>

#include <algorithm>

#include "tutti/base/openblas.h"

namespace tutti::cpu {
namespace {

// As cblas.h numbers them; that header is not needed to build.
enum Cblas : int {
  kRowMajor = 101,
  kAsIs = 111,
  kTurned = 112,
  kLower = 122,
  kNonUnit = 131,
  kRight = 142,
};

int narrow(int64_t number) {
  TUTTI_CHECK(number >= 0 && number <= Blas::kLargest);
  return static_cast<int>(number);
}

template <class Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

}  // namespace

std::optional<Matrix> as_matrix(const float* data, int64_t rows, int64_t columns, int64_t row_step,
                                int64_t column_step) {
  // The step of a single row or column does not matter.
  const int64_t by_rows = rows == 1 ? columns : row_step;
  const int64_t by_columns = columns == 1 ? rows : column_step;
  const auto good = [](int64_t step, int64_t least) {
    return step >= std::max<int64_t>(least, 1) && step <= Blas::kLargest;
  };
  if ((columns == 1 || column_step == 1) && good(by_rows, columns)) {
    return Matrix{data, by_rows, /*turned=*/false};
  }
  if ((rows == 1 || row_step == 1) && good(by_columns, rows)) {
    return Matrix{data, by_columns, /*turned=*/true};
  }
  return std::nullopt;
}

Result<Blas> Blas::load() {
  if (const Result<void> room = require_space_for_openblas(); !room) return room.error();
  void* library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) library = dlopen("libopenblas.so", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return failed("OpenBLAS, which multiplies matrices, cannot be opened; install libopenblas0");
  }
  Blas blas;
  void (*set_threads)(int) = nullptr;
  if (!find(library, "cblas_sgemm", blas.gemm_) || !find(library, "cblas_strsm", blas.trsm_) ||
      !find(library, "spotrf_", blas.potrf_) ||
      !find(library, "openblas_set_num_threads", set_threads)) {
    return failed("the OpenBLAS of this host lacks CBLAS or LAPACK; install libopenblas0");
  }
  set_threads(1);
  return blas;
}

Result<const Blas*> Blas::open() {
  static const Result<Blas> loaded = load();
  if (!loaded) return loaded.error();
  return &*loaded;
}

void Blas::multiply(const ProductSize& size, float alpha, const Matrix& a, const Matrix& b,
                    float beta, float* c, int64_t c_step) const {
  gemm_(kRowMajor, a.turned ? kTurned : kAsIs, b.turned ? kTurned : kAsIs, narrow(size.rows),
        narrow(size.columns), narrow(size.inner), alpha, a.data, narrow(a.step), b.data,
        narrow(b.step), beta, c, narrow(c_step));
}

void Blas::solve_transposed(int64_t rows, int64_t columns, const float* l, float* x) const {
  trsm_(kRowMajor, kRight, kLower, kTurned, kNonUnit, narrow(rows), narrow(columns), 1, l,
        narrow(columns), x, narrow(columns));
}

// LAPACK counts by columns: there the lower triangle is the upper one.
bool Blas::factor(int64_t rows, float* a) const {
  const int n = narrow(rows);
  int info = 0;
  potrf_("U", &n, a, &n, &info, 1);
  return info == 0;
}

}  // namespace tutti::cpu
