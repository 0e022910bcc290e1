#include <algorithm>

#include "tutti/kernels/cpu/cpu.h"
#include "tutti/kernels/cpu/lines.h"

namespace tutti::cpu {
namespace {

template <class Function>
Done reduce(const Attributes& attributes, Operands operands, const Block& output, Part part,
            Function function) {
  constexpr int64_t kColumns = 2048;  // of the result: they stay in the first cache
  const Axis axis(operands[0].shape, axis_of(attributes, operands[0].shape));
  const float* x = floats(operands[0]);
  float* out = floats(output);
  for_each_column_run(axis, part, kColumns, [&](int64_t outer, Range columns) {
    if (axis.inner == 1) {
      out[outer] = fold_line(x + outer * axis.count, axis.count, function);
      return;
    }
    float* folded = out + outer * axis.inner + columns.begin;
    const float* row = x + outer * axis.count * axis.inner + columns.begin;
    std::copy_n(row, columns.size(), folded);
    for (int64_t i = 1; i < axis.count; ++i) {
      row += axis.inner;
      for (int64_t j = 0; j < columns.size(); ++j) folded[j] = function(folded[j], row[j]);
    }
  });
  return {};
}

}  // namespace

Done reduce_sum(const Attributes& attributes, Operands operands, const Block& output, Part part) {
  return reduce(attributes, operands, output, part, [](float a, float b) { return a + b; });
}

Done reduce_max(const Attributes& attributes, Operands operands, const Block& output, Part part) {
  return reduce(attributes, operands, output, part, [](float a, float b) { return a < b ? b : a; });
}

}  // namespace tutti::cpu
