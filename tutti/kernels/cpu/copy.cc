#include "tutti/kernels/cpu/copy.h"

#include <algorithm>

namespace tutti::cpu {
namespace {

using Loop = Nest<2>::Loop;
using Offsets = Nest<2>::Offsets;

// Rows in one order, columns in the other, go in squares: both sides then use whole cache lines.
void copy_turned(const Loop& rows, Range range, const Loop& columns, const float* from, float* to) {
  constexpr int64_t kSquare = 32;
  for (int64_t begin = 0; begin < columns.size; begin += kSquare) {
    const int64_t end = std::min(begin + kSquare, columns.size);
    for (int64_t row = range.begin; row < range.end; ++row) {
      const float* source = from + row * rows.strides[0];
      float* target = to + row * rows.strides[1];
      for (int64_t column = begin; column < end; ++column) {
        target[column * columns.strides[1]] = source[column * columns.strides[0]];
      }
    }
  }
}

// `rows` is the loop along which `from` has no gaps, and not the innermost.
void copy_in_squares(const Nest<2>& nest, size_t rows, const float* from, float* to, Part part) {
  constexpr int64_t kRows = 32;
  const auto loops = nest.loops();
  Nest<2> squares;  // all loops but the two
  for (size_t i = 0; i + 1 < loops.size(); ++i) {
    if (i != rows) squares.add_loop(loops[i].size, loops[i].strides);
  }
  const int64_t bands = (loops[rows].size + kRows - 1) / kRows;
  squares.add_loop(bands, {kRows, kRows * loops[rows].strides[1]});
  const Offsets step = squares.steps();
  int64_t done = share(squares.count(), part).begin;
  squares.for_each_run(share(squares.count(), part), [&](const Offsets& offsets, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      const int64_t band = done++ % bands;
      const Range range{0, std::min(kRows, loops[rows].size - band * kRows)};
      copy_turned(loops[rows], range, loops.back(), from + offsets[0] + i * step[0],
                  to + offsets[1] + i * step[1]);
    }
  });
}

}  // namespace

void copy(const Nest<2>& nest, const float* from, float* to, Part part) {
  const auto loops = nest.loops();
  const Offsets step = nest.steps();
  for (size_t i = 0; i + 1 < loops.size() && step[0] != 1; ++i) {
    if (loops[i].strides[0] == 1) return copy_in_squares(nest, i, from, to, part);
  }
  const bool plain = step == Offsets{1, 1};
  nest.for_each_run(share(nest.count(), part, kLine), [&](const Offsets& offsets, int64_t count) {
    const float* source = from + offsets[0];
    float* target = to + offsets[1];
    if (plain) {
      std::copy_n(source, count, target);
    } else {
      for (int64_t i = 0; i < count; ++i) target[i * step[1]] = source[i * step[0]];
    }
  });
}

}  // namespace tutti::cpu
