#include <array>
#include <cmath>

#include "tutti/kernels/cpu/cpu.h"
#include "tutti/kernels/cpu/exp.h"
#include "tutti/kernels/cpu/lines.h"

namespace tutti::cpu {
namespace {

float larger(float a, float b) {
  return a < b ? b : a;
}

// A line without gaps, of which the first `seen` elements count.
void softmax_line(const float* x, int64_t seen, int64_t count, float* out) {
  if (seen > 0) {
    const float largest = fold_line(x, seen, larger);
    for (int64_t i = 0; i < seen; ++i) out[i] = exp_of(x[i] - largest);
    const float share = 1 / fold_line(out, seen, [](float a, float b) { return a + b; });
    for (int64_t i = 0; i < seen; ++i) out[i] *= share;
  }
  std::fill(out + seen, out + count, 0.0F);
}

constexpr int64_t kColumns = 256;

// Neighbouring lines at once, at most kColumns, with `step` between the elements of each.
void softmax_columns(const float* x, int64_t count, int64_t step, int64_t columns, float* out) {
  std::array<float, kColumns> largest;
  std::array<float, kColumns> total;
  largest.fill(-INFINITY);
  total.fill(0);
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t j = 0; j < columns; ++j) largest[j] = larger(largest[j], x[i * step + j]);
  }
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      const float power = exp_of(x[i * step + j] - largest[j]);
      out[i * step + j] = power;
      total[j] += power;
    }
  }
  for (int64_t j = 0; j < columns; ++j) total[j] = 1 / total[j];
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t j = 0; j < columns; ++j) out[i * step + j] *= total[j];
  }
}

}  // namespace

Done softmax(const Attributes& attributes, Operands operands, const Block& output, Part part) {
  const std::span<const int64_t> shape = operands[0].shape;
  const Axis axis(shape, axis_of(attributes, shape));
  const bool causal = attributes.text("first_row").has_value();
  const int64_t first_row = *attributes.whole("first_row", 0);
  const int64_t rows = causal ? shape[shape.size() - 2] : 1;
  for_each_column_run(axis, part, kColumns, [&](int64_t outer, Range columns) {
    const int64_t begin = outer * axis.count * axis.inner + columns.begin;
    const float* x = floats(operands[0]) + begin;
    float* out = floats(output) + begin;
    if (axis.inner > 1) {
      softmax_columns(x, axis.count, axis.inner, columns.size(), out);
    } else {
      // Row r sees columns 0 to first_row + r; first_row may be anything, so nothing is added to
      // it.
      const int64_t row = outer % rows;
      const bool none = first_row < -row;
      const bool all = !causal || first_row >= axis.count - 1 - row;
      softmax_line(x, all ? axis.count : none ? 0 : first_row + row + 1, axis.count, out);
    }
  });
  return {};
}

}  // namespace tutti::cpu
