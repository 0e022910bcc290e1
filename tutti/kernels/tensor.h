// A Tensor is a block of numbers in row-major order, in double precision whatever the graph says.

#ifndef TUTTI_KERNELS_TENSOR_H_
#define TUTTI_KERNELS_TENSOR_H_

#include <cstdint>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "tutti/graph/kind/kind.h"

namespace tutti {

struct Tensor {
  Shape shape;
  std::vector<double> data;

  static Tensor zeros(Shape shape) {
    const int64_t count =
        std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
    return {std::move(shape), std::vector<double>(static_cast<size_t>(count))};
  }
};

// How far apart in `data` neighbours along each axis are.
inline Shape strides_of(const Shape& shape) {
  Shape strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

// Calls visit(coordinates) for every place of a shape, in row-major order.
template <class Visit>
void for_each_place(const Shape& shape, Visit visit) {
  for (const int64_t size : shape) {
    if (size == 0) return;
  }
  Shape place(shape.size(), 0);
  for (;;) {
    visit(std::as_const(place));
    size_t axis = shape.size();
    while (axis > 0 && ++place[axis - 1] == shape[axis - 1]) place[--axis] = 0;
    if (axis == 0) return;
  }
}

// The place in `data` of some coordinates.
inline size_t place_at(const Shape& coordinates, const Shape& strides) {
  return static_cast<size_t>(
      std::inner_product(coordinates.begin(), coordinates.end(), strides.begin(), int64_t{0}));
}

}  // namespace tutti

#endif  // TUTTI_KERNELS_TENSOR_H_
