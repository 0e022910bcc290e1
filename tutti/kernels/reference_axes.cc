#include <algorithm>
#include <cmath>

#include "tutti/kernels/reference.h"

namespace tutti::reference {
namespace {

// One line of elements along an axis: places begin, begin + step, ..., `count` of them.
struct Line {
  size_t begin;
  size_t step;
  size_t count;
  size_t at(size_t i) const { return begin + i * step; }
};

size_t axis_of(const Attributes& attributes, const Shape& shape) {
  const int64_t axis = *attributes.whole("axis", -1);
  return static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(shape.size()) : axis);
}

// Calls visit(line, its coordinates, with 0 on the axis) for all lines, in row-major order.
template <class Visit>
void for_each_line(const Shape& shape, size_t axis, Visit visit) {
  const Shape strides = strides_of(shape);
  Shape others = shape;
  others[axis] = 1;
  for_each_place(others, [&](const Shape& place) {
    visit(Line{place_at(place, strides), static_cast<size_t>(strides[axis]),
               static_cast<size_t>(shape[axis])},
          place);
  });
}

template <class Function>
Result<void> reduce(const Attributes& attributes, const Tensor& x, Tensor& output,
                    Function function) {
  size_t next = 0;
  for_each_line(x.shape, axis_of(attributes, x.shape), [&](const Line& line, const Shape&) {
    double value = x.data[line.at(0)];
    for (size_t i = 1; i < line.count; ++i) value = function(value, x.data[line.at(i)]);
    output.data[next++] = value;
  });
  return {};
}

}  // namespace

// With first_row, row r sees columns 0 to first_row + r, as a token sees those before it.
Result<void> softmax(const Attributes& attributes, Operands operands, Tensor& output) {
  const Tensor& x = *operands[0];
  const bool causal = attributes.text("first_row").has_value();
  const int64_t first_row = *attributes.whole("first_row", 0);
  for_each_line(x.shape, axis_of(attributes, x.shape), [&](const Line& line, const Shape& place) {
    size_t seen = line.count;
    if (causal) {
      const int64_t row = first_row + place[place.size() - 2];
      seen = std::min(seen, static_cast<size_t>(std::max<int64_t>(row + 1, 0)));
    }
    double largest = -INFINITY;
    for (size_t i = 0; i < seen; ++i) largest = std::max(largest, x.data[line.at(i)]);
    double total = 0;
    for (size_t i = 0; i < seen; ++i) total += std::exp(x.data[line.at(i)] - largest);
    for (size_t i = 0; i < seen; ++i) {
      output.data[line.at(i)] = std::exp(x.data[line.at(i)] - largest) / total;
    }
  });
  return {};
}

Result<void> rms_norm(const Attributes& attributes, Operands operands, Tensor& output) {
  const Tensor& x = *operands[0];
  const Tensor& weight = *operands[1];
  const double epsilon = *attributes.number("epsilon", 0);
  for_each_line(x.shape, x.shape.size() - 1, [&](const Line& line, const Shape&) {
    double squares = 0;
    for (size_t i = 0; i < line.count; ++i) squares += x.data[line.at(i)] * x.data[line.at(i)];
    const double root = std::sqrt(squares / static_cast<double>(line.count) + epsilon);
    for (size_t i = 0; i < line.count; ++i) {
      output.data[line.at(i)] = x.data[line.at(i)] / root * weight.data[i];
    }
  });
  return {};
}

// Rotary position embedding (Su et al., arXiv 2104.09864): elements 2i and 2i + 1 are turned by
// position * base^(-2i / d).
Result<void> rope(const Attributes& attributes, Operands operands, Tensor& output) {
  const Tensor& x = *operands[0];
  const size_t axis = axis_of(attributes, x.shape);
  const int64_t first = *attributes.whole("first_position", 0);
  const double base = *attributes.number("base", 10000);
  for_each_line(x.shape, x.shape.size() - 1, [&](const Line& line, const Shape& place) {
    const auto position = static_cast<double>(first + place[axis]);
    for (size_t i = 0; i < line.count; i += 2) {
      const double turn =
          position * std::pow(base, -static_cast<double>(i) / static_cast<double>(line.count));
      const double even = x.data[line.at(i)];
      const double odd = x.data[line.at(i + 1)];
      output.data[line.at(i)] = even * std::cos(turn) - odd * std::sin(turn);
      output.data[line.at(i + 1)] = even * std::sin(turn) + odd * std::cos(turn);
    }
  });
  return {};
}

Result<void> reduce_sum(const Attributes& attributes, Operands operands, Tensor& output) {
  return reduce(attributes, *operands[0], output, [](double a, double b) { return a + b; });
}

Result<void> reduce_max(const Attributes& attributes, Operands operands, Tensor& output) {
  return reduce(attributes, *operands[0], output,
                [](double a, double b) { return std::max(a, b); });
}

}  // namespace tutti::reference
