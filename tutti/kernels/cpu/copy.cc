#include "tutti/kernels/cpu/copy.h"

#include <algorithm>
#include <array>

namespace tutti::cpu {
namespace {

using Loop = Nest<2>::Loop;
using Offsets = Nest<2>::Offsets;

constexpr int64_t kSquare = 32;

// At most kSquare rows, along which `from` has no gaps, of all columns. They go in squares by way
// of a small one in between: both sides then use whole cache lines, each once, however many lines
// of a large power of two apart would drive each other out of the cache.
void copy_turned(const Loop& rows, int64_t count, const Loop& columns, const float* from,
                 float* to) {
  std::array<float, kSquare * kSquare> square;
  for (int64_t begin = 0; begin < columns.size; begin += kSquare) {
    const int64_t width = std::min(kSquare, columns.size - begin);
    for (int64_t column = 0; column < width; ++column) {
      const float* source = from + (begin + column) * columns.strides[0];
      for (int64_t row = 0; row < count; ++row) square[row * kSquare + column] = source[row];
    }
    for (int64_t row = 0; row < count; ++row) {
      float* target = to + row * rows.strides[1] + begin * columns.strides[1];
      const float* line = square.data() + row * kSquare;
      if (columns.strides[1] == 1) {
        std::copy_n(line, width, target);
      } else {
        for (int64_t i = 0; i < width; ++i) target[i * columns.strides[1]] = line[i];
      }
    }
  }
}

// `rows` is the loop along which `from` has no gaps, and not the innermost.
void copy_in_squares(const Nest<2>& nest, size_t rows, const float* from, float* to, Part part) {
  const auto loops = nest.loops();
  Nest<2> squares;  // all loops but the two
  for (size_t i = 0; i + 1 < loops.size(); ++i) {
    if (i != rows) squares.add_loop(loops[i].size, loops[i].strides);
  }
  const int64_t bands = (loops[rows].size + kSquare - 1) / kSquare;
  squares.add_loop(bands, {kSquare, kSquare * loops[rows].strides[1]});
  const Offsets step = squares.steps();
  int64_t done = share(squares.count(), part).begin;
  squares.for_each_run(share(squares.count(), part), [&](const Offsets& offsets, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      const int64_t band = done++ % bands;
      const int64_t height = std::min(kSquare, loops[rows].size - band * kSquare);
      copy_turned(loops[rows], height, loops.back(), from + offsets[0] + i * step[0],
                  to + offsets[1] + i * step[1]);
    }
  });
}

}  // namespace

void copy(const Nest<2>& nest, const float* from, float* to, Part part) {
  if (nest.count() == 0) return;  // an empty block may be null, to which nothing can be added
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
