#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "tutti/kernels/cpu/cpu.h"
#include "tutti/kernels/cpu/floats.h"
#include "tutti/kernels/cpu/nest.h"
#include "tutti/kernels/tensor.h"

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

// The part's share of the copy that the nest describes: its arrays are `from` and `to`, and it is
// in the order of `to`. Null arrays are allowed if the nest is empty.
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

// Over all places of `shape`, which lie in both arrays with the strides of larger blocks.
Nest<2> nest_of(std::span<const int64_t> shape, const Shape& from, const Shape& to) {
  Nest<2> nest;
  for (size_t i = 0; i < shape.size(); ++i) nest.add_loop(shape[i], {from[i], to[i]});
  return nest;
}

// Of the id at place i; a double holds all of both dtypes.
double id_at(const ConstBlock& ids, int64_t i) {
  if (ids.dtype == DType::i32) return static_cast<const int32_t*>(ids.data)[i];
  return floats(ids)[i];
}

// The address `offset` elements on. An empty block may be null, to which nothing can be added.
template <class Element>
Element* shifted(Element* first, int64_t offset) {
  return first == nullptr ? nullptr : first + offset;
}

}  // namespace

Done transpose(const Attributes& attributes, Operands operands, const Block& output, Part part) {
  const Shape strides = strides_of(to_shape(operands[0].shape));
  const Shape permutation = *attributes.wholes("permutation");
  Shape permuted;
  for (const int64_t axis : permutation) {
    permuted.push_back(strides[static_cast<size_t>(axis)]);
  }
  copy(nest_of(output.shape, permuted, strides_of(to_shape(output.shape))), floats(operands[0]),
       floats(output), part);
  return {};
}

// Every part takes its share of each block.
Done assemble(const Attributes& attributes, Operands operands, const Block& output, Part part) {
  const auto offsets = *attributes.rows("offsets");
  const Shape strides = strides_of(to_shape(output.shape));
  for (size_t i = 0; i < operands.size(); ++i) {
    const Shape own = strides_of(to_shape(operands[i].shape));
    copy(nest_of(operands[i].shape, own, strides), floats(operands[i]),
         shifted(floats(output), place_at(offsets[i], strides)), part);
  }
  return {};
}

Done slice(const Attributes& attributes, Operands operands, const Block& output, Part part) {
  const Shape strides = strides_of(to_shape(operands[0].shape));
  copy(nest_of(output.shape, strides, strides_of(to_shape(output.shape))),
       shifted(floats(operands[0]), place_at(*attributes.wholes("begin"), strides)), floats(output),
       part);
  return {};
}

// With first_row the table is a part of a larger one, and ids of other parts give zeros, so that
// the parts' results add up to the whole.
Done embedding(const Attributes& attributes, Operands operands, const Block& output, Part part) {
  const ConstBlock& ids = operands[0];
  const ConstBlock& table = operands[1];
  const bool of_larger = attributes.text("first_row").has_value();
  const auto first = static_cast<double>(*attributes.whole("first_row", 0));
  const auto rows = static_cast<double>(table.shape[0]);
  const int64_t width = table.shape[1];
  const Range range = share(product_of(ids.shape), part);
  for (int64_t i = range.begin; i < range.end; ++i) {
    const double row = id_at(ids, i) - first;
    float* out = floats(output) + i * width;
    if (row >= 0 && row < rows && row == std::floor(row)) {
      std::copy_n(floats(table) + static_cast<int64_t>(row) * width, width, out);
    } else if (of_larger) {
      std::fill_n(out, width, 0.0F);
    } else {
      return invalid_input(fmt::format("embedding: id {} is no row of a table of {}", id_at(ids, i),
                                       table.shape[0]));
    }
  }
  return {};
}

Done last_token(const Attributes& /*attributes*/, Operands operands, const Block& output,
                Part part) {
  const std::span<const int64_t> shape = operands[0].shape;
  const int64_t last = (shape[1] - 1) * shape[2];
  copy(nest_of(output.shape, {shape[1] * shape[2], 1}, {shape[2], 1}),
       shifted(floats(operands[0]), last), floats(output), part);
  return {};
}

}  // namespace tutti::cpu
