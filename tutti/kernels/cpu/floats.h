// The elements of blocks that are known to hold f32.

#ifndef TUTTI_KERNELS_CPU_FLOATS_H_
#define TUTTI_KERNELS_CPU_FLOATS_H_

#include "tutti/graph/kind/einsum.h"
#include "tutti/kernels/block.h"

namespace tutti::cpu {

inline const float* floats(const ConstBlock& block) {
  return static_cast<const float*>(block.data);
}
inline float* floats(const Block& block) {
  return static_cast<float*>(block.data);
}

inline int64_t product_of(std::span<const int64_t> sizes) {
  int64_t product = 1;
  for (const int64_t size : sizes) product *= size;
  return product;
}

inline Shape to_shape(std::span<const int64_t> shape) {
  return {shape.begin(), shape.end()};
}

}  // namespace tutti::cpu

#endif  // TUTTI_KERNELS_CPU_FLOATS_H_
