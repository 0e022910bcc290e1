#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tutti/kernels/reference.h"

namespace tutti::reference {
namespace {

Shape plus(const Shape& a, const Shape& b) {
  Shape sum = a;
  for (size_t i = 0; i < sum.size(); ++i) sum[i] += b[i];
  return sum;
}

}  // namespace

Result<void> transpose(const Attributes& attributes, Operands operands, Tensor& output) {
  const Tensor& x = *operands[0];
  const Shape strides = strides_of(x.shape);
  const Shape permutation = *attributes.wholes("permutation");
  Shape permuted;
  for (const int64_t axis : permutation) {
    permuted.push_back(strides[static_cast<size_t>(axis)]);
  }
  size_t next = 0;
  for_each_place(output.shape, [&](const Shape& place) {
    output.data[next++] = x.data[place_at(place, permuted)];
  });
  return {};
}

Result<void> assemble(const Attributes& attributes, Operands operands, Tensor& output) {
  const auto offsets = *attributes.rows("offsets");
  const Shape strides = strides_of(output.shape);
  for (size_t i = 0; i < operands.size(); ++i) {
    size_t next = 0;
    for_each_place(operands[i]->shape, [&](const Shape& place) {
      output.data[place_at(plus(place, offsets[i]), strides)] = operands[i]->data[next++];
    });
  }
  return {};
}

Result<void> slice(const Attributes& attributes, Operands operands, Tensor& output) {
  const Shape begin = *attributes.wholes("begin");
  const Shape strides = strides_of(operands[0]->shape);
  size_t next = 0;
  for_each_place(output.shape, [&](const Shape& place) {
    output.data[next++] = operands[0]->data[place_at(plus(place, begin), strides)];
  });
  return {};
}

// With first_row the table is a part of a larger one, and ids of other parts give zeros, so that
// the parts' results add up to the whole.
Result<void> embedding(const Attributes& attributes, Operands operands, Tensor& output) {
  const Tensor& ids = *operands[0];
  const Tensor& table = *operands[1];
  const bool part = attributes.text("first_row").has_value();
  const auto first = static_cast<double>(*attributes.whole("first_row", 0));
  const auto rows = static_cast<double>(table.shape[0]);
  const long width = static_cast<long>(table.shape[1]);
  for (size_t i = 0; i < ids.data.size(); ++i) {
    const double row = ids.data[i] - first;
    if (row >= 0 && row < rows && row == std::floor(row)) {
      const auto begin = table.data.begin() + static_cast<long>(row) * width;
      std::copy(begin, begin + width, output.data.begin() + static_cast<long>(i) * width);
    } else if (!part) {
      return invalid_input(
          fmt::format("embedding: id {} is no row of a table of {}", ids.data[i], table.shape[0]));
    }
  }
  return {};
}

Result<void> last_token(const Attributes& /*attributes*/, Operands operands, Tensor& output) {
  const Shape& shape = operands[0]->shape;
  const Shape strides = strides_of(shape);
  size_t next = 0;
  for_each_place(output.shape, [&](const Shape& place) {
    output.data[next++] = operands[0]->data[place_at({place[0], shape[1] - 1, place[1]}, strides)];
  });
  return {};
}

}  // namespace tutti::reference
