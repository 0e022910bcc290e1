// Lines of elements along one axis of a block, and what is added up or compared along them.

#ifndef TUTTI_KERNELS_CPU_LINES_H_
#define TUTTI_KERNELS_CPU_LINES_H_

#include <algorithm>
#include <array>

#include "tutti/graph/kind/attributes.h"
#include "tutti/kernels/cpu/floats.h"
#include "tutti/kernels/cpu/share.h"

namespace tutti::cpu {

inline size_t axis_of(const Attributes& attributes, std::span<const int64_t> shape) {
  const int64_t axis = *attributes.whole("axis", -1);
  return static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(shape.size()) : axis);
}

// A block as (outer, count, inner) with the axis in the middle.
struct Axis {
  int64_t outer;
  int64_t count;
  int64_t inner;

  Axis(std::span<const int64_t> shape, size_t axis)
      : outer(product_of(shape.first(axis))),
        count(shape[axis]),
        inner(product_of(shape.subspan(axis + 1))) {}
};

// Calls visit(outer, columns) for runs of neighbouring lines, at most `longest` at a time: the
// columns begin to end of that outer index. Together they are the part's share of all lines.
template <class Visit>
void for_each_column_run(const Axis& axis, Part part, int64_t longest, Visit visit) {
  const Range range = share(axis.outer * axis.inner, part, axis.inner > 1 ? kLine : 1);
  for (int64_t line = range.begin; line < range.end;) {
    const int64_t outer = line / axis.inner;
    const int64_t column = line % axis.inner;
    const int64_t count = std::min({axis.inner - column, range.end - line, longest});
    visit(outer, Range{column, column + count});
    line += count;
  }
}

// Folds a line without gaps, count >= 1. It goes in sixteen lanes at once, which fill
// vector registers, and always in the same order, whatever registers there are.
template <class Function>
float fold_line(const float* x, int64_t count, Function function) {
  constexpr int64_t kLanes = 16;
  int64_t i = 1;
  float folded = x[0];
  if (count >= 2 * kLanes) {
    std::array<float, kLanes> lanes;
    for (int64_t lane = 0; lane < kLanes; ++lane) lanes[lane] = x[lane];
    for (i = kLanes; i + kLanes <= count; i += kLanes) {
      for (int64_t lane = 0; lane < kLanes; ++lane) {
        lanes[lane] = function(lanes[lane], x[i + lane]);
      }
    }
    folded = lanes[0];
    for (int64_t lane = 1; lane < kLanes; ++lane) folded = function(folded, lanes[lane]);
  }
  for (; i < count; ++i) folded = function(folded, x[i]);
  return folded;
}

}  // namespace tutti::cpu

#endif  // TUTTI_KERNELS_CPU_LINES_H_
