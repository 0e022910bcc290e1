#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tutti/kernels/cpu/copy.h"
#include "tutti/kernels/cpu/cpu.h"
#include "tutti/kernels/cpu/floats.h"
#include "tutti/kernels/tensor.h"

namespace tutti::cpu {
namespace {

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
