#include "tutti/kernels/cpu/contraction.h"

#include <utility>

#include "tutti/kernels/einsum_places.h"

namespace tutti::cpu {

std::vector<int64_t> Side::places(Range range) const {
  std::vector<int64_t> places;
  places.reserve(static_cast<size_t>(range.size()));
  nest_.for_each_run(range, [&](const Nest<1>::Offsets& offsets, int64_t count) {
    for (int64_t i = 0; i < count; ++i) places.push_back(offsets[0] + i * nest_.steps()[0]);
  });
  return places;
}

Contraction contraction_of(const Einsum& einsum, const Shape& first, const Shape& second) {
  const Shape in_first = strides_by_letter(einsum, einsum.first, first);
  const Shape in_second = strides_by_letter(einsum, einsum.second, second);
  const Shape in_out = strides_by_letter(einsum, einsum.out, einsum.output_shape());
  const auto has = [](const std::string& letters, char letter) {
    return letters.find(letter) != std::string::npos;
  };
  Contraction found;
  for (size_t i = 0; i < einsum.letters.size(); ++i) {
    const char letter = einsum.letters[i];
    const int64_t size = einsum.sizes[i];
    if (!has(einsum.out, letter)) {
      found.first.columns.add(size, in_first[i]);
      found.second.rows.add(size, in_second[i]);
    } else if (has(einsum.first, letter) && has(einsum.second, letter)) {
      found.batch.add_loop(size, {in_first[i], in_second[i], in_out[i]});
    } else if (has(einsum.first, letter)) {
      found.first.rows.add(size, in_first[i]);
      found.out.rows.add(size, in_out[i]);
    } else {
      found.second.columns.add(size, in_second[i]);
      found.out.columns.add(size, in_out[i]);
    }
  }
  return found;
}

Contraction turned(Contraction product) {
  std::swap(product.first, product.second);
  for (MatrixSides* sides : {&product.first, &product.second, &product.out}) {
    std::swap(sides->rows, sides->columns);
  }
  Nest<3> batch;
  for (const auto& loop : product.batch.loops()) {
    batch.add_loop(loop.size, {loop.strides[1], loop.strides[0], loop.strides[2]});
  }
  product.batch = std::move(batch);
  return product;
}

}  // namespace tutti::cpu
