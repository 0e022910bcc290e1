// Walks a product in index notation: which element of each operand meets which of the result.

#ifndef TUTTI_KERNELS_EINSUM_PLACES_H_
#define TUTTI_KERNELS_EINSUM_PLACES_H_

#include "tutti/graph/kind/einsum.h"
#include "tutti/kernels/tensor.h"

namespace tutti {

// Strides by place in einsum.letters; 0 for an index that `own` lacks.
inline Shape strides_by_letter(const Einsum& einsum, const std::string& own, const Shape& shape) {
  const Shape strides = strides_of(shape);
  Shape found;
  for (const char letter : einsum.letters) {
    const size_t axis = own.find(letter);
    found.push_back(axis == std::string::npos ? 0 : strides[axis]);
  }
  return found;
}

// Calls visit(place in first, place in second, place in the result); summed indices vary fastest.
template <class Visit>
void for_each_pair(const Einsum& einsum, const Shape& first, const Shape& second, Visit visit) {
  const Shape in_first = strides_by_letter(einsum, einsum.first, first);
  const Shape in_second = strides_by_letter(einsum, einsum.second, second);
  const Shape in_out = strides_by_letter(einsum, einsum.out, einsum.output_shape());
  for_each_place(einsum.sizes, [&](const Shape& place) {
    visit(place_at(place, in_first), place_at(place, in_second), place_at(place, in_out));
  });
}

}  // namespace tutti

#endif  // TUTTI_KERNELS_EINSUM_PLACES_H_
