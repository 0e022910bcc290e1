// What the .cu files share: elements as floats, grids, and where nests of loops lead.

#ifndef TUTTI_KERNELS_CUDA_DEVICE_COMMON_H_
#define TUTTI_KERNELS_CUDA_DEVICE_COMMON_H_

#include <cuda_bf16.h>

#include "tutti/kernels/cuda/device.h"

namespace tutti::cuda {

inline __device__ float to_float(float x) {
  return x;
}
inline __device__ float to_float(__nv_bfloat16 x) {
  return __bfloat162float(x);
}
inline __device__ void store(float* to, float x) {
  *to = x;
}
inline __device__ void store(__nv_bfloat16* to, float x) {
  *to = __float2bfloat16_rn(x);
}

inline __device__ int64_t thread_index() {
  return static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
inline __device__ int64_t thread_count() {
  return static_cast<int64_t>(gridDim.x) * blockDim.x;
}

// Blocks for so much work, and no more than keep every multiprocessor full: kernels go round.
inline unsigned blocks_for(const Queue& queue, int64_t work, int64_t work_of_block) {
  const int64_t needed = (work + work_of_block - 1) / work_of_block;
  const int64_t most = static_cast<int64_t>(queue.multiprocessors) * 32;
  return static_cast<unsigned>(needed < most ? needed : most);
}

// Where iteration i of the nest is in both arrays. Division of 32-bit numbers is far quicker.
template <class Index>
__device__ void places(const Loops& loops, Index i, int64_t& first, int64_t& second) {
  first = 0;
  second = 0;
  for (int loop = loops.count - 1; loop >= 0; --loop) {
    const auto size = static_cast<Index>(loops.sizes[loop]);
    const Index rest = i / size;
    const auto at = static_cast<int64_t>(i - rest * size);
    first += at * loops.first[loop];
    second += at * loops.second[loop];
    i = rest;
  }
}

inline bool is_small(int64_t count) {
  return count < (int64_t{1} << 31);
}

// Calls use(T{}) with the type of the elements.
template <class Use>
void with_element(Element element, Use use) {
  if (element == Element::f32) {
    use(float{});
  } else {
    use(__nv_bfloat16{});
  }
}

}  // namespace tutti::cuda

#endif  // TUTTI_KERNELS_CUDA_DEVICE_COMMON_H_
