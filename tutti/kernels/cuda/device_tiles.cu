#include "tutti/kernels/cuda/device_common.h"

namespace tutti::cuda {
namespace {

constexpr int kThreads = 256;

template <class T>
__global__ void lower_kernel(int64_t n, const T* a, float* out) {
  for (int64_t i = thread_index(); i < n * n; i += thread_count()) {
    const int64_t row = i / n;
    out[i] = i - row * n <= row ? to_float(a[i]) : 0.0F;
  }
}

// One block: the triangle fits its shared memory. Column by column; what is to the right of a
// column is brought up to date before the next.
__global__ void factor_kernel(int size, int64_t step, float* a, int64_t first,
                              unsigned long long* wrong) {
  __shared__ float tile[kFactorBlock][kFactorBlock + 1];
  const int thread = static_cast<int>(threadIdx.x);
  for (int i = thread; i < size * size; i += kThreads)
    tile[i / size][i % size] = a[i / size * step + i % size];
  __syncthreads();
  for (int j = 0; j < size; ++j) {
    const float pivot = tile[j][j];
    if (thread == 0 && !(pivot > 0)) atomicMin(wrong, static_cast<unsigned long long>(first + j));
    const float root = sqrtf(pivot);
    __syncthreads();  // all have read the pivot
    if (thread == 0) tile[j][j] = root;
    for (int i = j + 1 + thread; i < size; i += kThreads) tile[i][j] /= root;
    __syncthreads();
    const int rest = size - j - 1;
    for (int k = thread; k < rest * rest; k += kThreads) {
      const int row = j + 1 + k / rest;
      const int column = j + 1 + k % rest;
      if (column <= row) tile[row][column] -= tile[row][j] * tile[column][j];
    }
    __syncthreads();
  }
  for (int i = thread; i < size * size; i += kThreads) {
    if (i % size <= i / size) a[i / size * step + i % size] = tile[i / size][i % size];
  }
}

}  // namespace

void lower_triangle(Queue queue, Element element, int64_t n, const void* a, float* out) {
  if (n == 0) return;
  with_element(element, [&](auto zero) {
    using T = decltype(zero);
    lower_kernel<T><<<blocks_for(queue, n * n, kThreads), kThreads, 0, queue.stream>>>(
        n, static_cast<const T*>(a), out);
  });
}

void factor_block(Queue queue, int size, int64_t step, float* a, int64_t first,
                  unsigned long long* wrong) {
  factor_kernel<<<1, kThreads, 0, queue.stream>>>(size, step, a, first, wrong);
}

}  // namespace tutti::cuda
