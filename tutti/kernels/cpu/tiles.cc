#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tutti/kernels/cpu/blas.h"
#include "tutti/kernels/cpu/cpu.h"
#include "tutti/kernels/cpu/floats.h"
#include "tutti/kernels/cpu/scratch.h"
#include "tutti/kernels/cpu/share.h"

namespace tutti::cpu {
namespace {

// Fails if OpenBLAS is not there or a side of a tile is more than it can count.
Result<const Blas*> blas_for(std::string_view kind, Operands operands) {
  for (const ConstBlock& operand : operands) {
    for (const int64_t size : operand.shape) {
      if (size <= Blas::kLargest) continue;
      return invalid_input(fmt::format("{}: a tile of shape {} is larger than OpenBLAS can count",
                                       kind, wholes_text(operand.shape)));
    }
  }
  return Blas::open();
}

Matrix rows_of(const ConstBlock& block, int64_t first) {
  return {floats(block) + first * block.shape[1], std::max<int64_t>(block.shape[1], 1)};
}

// The same, turned.
Matrix columns_of(const ConstBlock& block, int64_t first) {
  return {floats(block) + first * block.shape[1], std::max<int64_t>(block.shape[1], 1),
          /*turned=*/true};
}

// The part's rows of a lower triangle: of equal area, not of equal number.
Range share_of_triangle(int64_t rows, Part part) {
  const auto until = [&](int index) {
    const double area = static_cast<double>(index) / part.count;
    return std::min(rows, static_cast<int64_t>(std::sqrt(area) * static_cast<double>(rows)));
  };
  return {until(part.index), part.index + 1 == part.count ? rows : until(part.index + 1)};
}

// out = c - s, and the same across the diagonal: s is the product's rows by columns.
struct SymmetricTile {
  const float* s;
  Range rows;
  Range columns;

  void subtract_from(const float* c, float* out, int64_t n) const {
    for (int64_t i = rows.begin; i < rows.end; ++i) {
      const float* line = s + (i - rows.begin) * columns.size() - columns.begin;
      const int64_t end = std::min(columns.end, i + 1);
      for (int64_t j = columns.begin; j < end; ++j) out[i * n + j] = c[i * n + j] - line[j];
    }
    for (int64_t j = columns.begin; j < columns.end; ++j) {
      for (int64_t i = std::max(rows.begin, j + 1); i < rows.end; ++i) {
        const float value = s[(i - rows.begin) * columns.size() + j - columns.begin];
        out[j * n + i] = c[j * n + i] - value;
      }
    }
  }
};

}  // namespace

// A tile is on a chain of dependent ops and is much smaller than the others; one part does it all.
// The upper triangle is not read; that of the result is 0.
Done potrf(const Attributes& /*attributes*/, Operands operands, const Block& output, Part part) {
  if (part.index > 0) return {};
  const Result<const Blas*> blas = blas_for("potrf", operands);
  if (!blas) return blas.error();
  const int64_t n = output.shape[0];
  const float* a = floats(operands[0]);
  float* out = floats(output);
  for (int64_t i = 0; i < n; ++i) {
    std::copy_n(a + i * n, i + 1, out + i * n);
    std::fill(out + i * n + i + 1, out + (i + 1) * n, 0.0F);
  }
  bool positive = n == 0 || (*blas)->factor(n, out);
  // LAPACK takes what is not a number for positive.
  for (int64_t i = 0; i < n; ++i) positive = positive && out[i * n + i] > 0;
  if (!positive) return invalid_input("potrf: the tile is not positive definite");
  return {};
}

Done trsm(const Attributes& /*attributes*/, Operands operands, const Block& output, Part part) {
  const Result<const Blas*> blas = blas_for("trsm", operands);
  if (!blas) return blas.error();
  const int64_t columns = output.shape[1];
  const Range rows = share(output.shape[0], part);
  if (rows.empty() || columns == 0) return {};
  float* out = floats(output) + rows.begin * columns;
  std::copy_n(floats(operands[1]) + rows.begin * columns, rows.size() * columns, out);
  (*blas)->solve_transposed(rows.size(), columns, floats(operands[0]), out);
  return {};
}

// A A^T is the same on both sides of the diagonal: only its lower triangle is computed, and
// subtracted twice.
Done syrk(const Attributes& /*attributes*/, Operands operands, const Block& output, Part part) {
  const Result<const Blas*> blas = blas_for("syrk", operands);
  if (!blas) return blas.error();
  constexpr int64_t kRows = 128;
  constexpr int64_t kColumns = 1024;
  const ConstBlock& a = operands[0];
  const int64_t n = output.shape[0];
  const Range own = share_of_triangle(n, part);
  for (int64_t i = own.begin; i < own.end; i += kRows) {
    const Range rows{i, std::min(i + kRows, own.end)};
    for (int64_t j = 0; j < rows.end; j += kColumns) {
      const Range columns{j, std::min(j + kColumns, rows.end)};
      float* s = scratch<struct SyrkTile>(rows.size() * columns.size()).data();
      std::fill_n(s, a.shape[1] == 0 ? rows.size() * columns.size() : 0, 0.0F);
      (*blas)->multiply({rows.size(), columns.size(), a.shape[1]}, 1, rows_of(a, rows.begin),
                        columns_of(a, columns.begin), 0, s, columns.size());
      SymmetricTile{s, rows, columns}.subtract_from(floats(operands[1]), floats(output), n);
    }
  }
  return {};
}

Done gemm(const Attributes& /*attributes*/, Operands operands, const Block& output, Part part) {
  const Result<const Blas*> blas = blas_for("gemm", operands);
  if (!blas) return blas.error();
  const int64_t columns = output.shape[1];
  const Range rows = share(output.shape[0], part);
  if (rows.empty() || columns == 0) return {};
  float* out = floats(output) + rows.begin * columns;
  std::copy_n(floats(operands[2]) + rows.begin * columns, rows.size() * columns, out);
  const int64_t inner = operands[0].shape[1];
  if (inner == 0) return {};
  (*blas)->multiply({rows.size(), columns, inner}, -1, rows_of(operands[0], rows.begin),
                    columns_of(operands[1], 0), 1, out, columns);
  return {};
}

}  // namespace tutti::cpu
