// A Block is where a kernel finds or leaves a value: shape, dtype and the address of its elements,
// in row-major order without gaps. It owns nothing: the shape and the elements must outlive it.

#ifndef TUTTI_KERNELS_BLOCK_H_
#define TUTTI_KERNELS_BLOCK_H_

#include <span>

#include "tutti/graph/graph.h"

namespace tutti {

struct Block {
  std::span<const int64_t> shape;
  DType dtype = DType::f32;
  void* data = nullptr;
};

// The same, to be read only.
struct ConstBlock {
  std::span<const int64_t> shape;
  DType dtype = DType::f32;
  const void* data = nullptr;

  ConstBlock() = default;
  ConstBlock(std::span<const int64_t> its_shape, DType its_dtype, const void* its_data)
      : shape(its_shape), dtype(its_dtype), data(its_data) {}
  ConstBlock(const Block& block)  // NOLINT: implicit, as from T* to const T*
      : shape(block.shape), dtype(block.dtype), data(block.data) {}
};

// One of `count` pieces of an op's work, so that several threads can do one op. Pieces write
// disjoint parts of the output and need not wait for each other; all of them make the whole.
struct Part {
  int index = 0;
  int count = 1;
};

}  // namespace tutti

#endif  // TUTTI_KERNELS_BLOCK_H_
