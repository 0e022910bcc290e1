// Blocks and nests of loops as device.h takes them.

#ifndef TUTTI_KERNELS_CUDA_BLOCKS_H_
#define TUTTI_KERNELS_CUDA_BLOCKS_H_

#include "tutti/base/check.h"
#include "tutti/kernels/block.h"
#include "tutti/kernels/cpu/nest.h"
#include "tutti/kernels/cuda/device.h"

namespace tutti::cuda {

inline Element element_of(DType dtype) {
  return dtype == DType::f32 ? Element::f32 : Element::bf16;
}

// Requires that the nest runs at all: then each loop is of 2 or more, and there are not too many.
inline Loops loops_of(const cpu::Nest<2>& nest) {
  Loops found;
  TUTTI_CHECK(nest.loops().size() <= Loops::kMost);
  for (const auto& loop : nest.loops()) {
    found.sizes[found.count] = loop.size;
    found.first[found.count] = loop.strides[0];
    found.second[found.count++] = loop.strides[1];
    found.total *= loop.size;
  }
  return found;
}

}  // namespace tutti::cuda

#endif  // TUTTI_KERNELS_CUDA_BLOCKS_H_
