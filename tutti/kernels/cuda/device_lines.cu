#include "tutti/kernels/cuda/device_common.h"

namespace tutti::cuda {
namespace {

constexpr int kWarp = 32;

struct Add {
  static constexpr float kNothing = 0;
  __device__ float operator()(float a, float b) const { return a + b; }
};
struct Larger {
  static constexpr float kNothing = -__builtin_huge_valf();
  __device__ float operator()(float a, float b) const { return a < b ? b : a; }
};

// What the threads of a block hold, folded, for all of them; always in the same order.
template <class Function>
__device__ float fold_block(float x, Function function) {
  __shared__ float of_warps[kWarp];
  for (int far = kWarp / 2; far > 0; far /= 2) {
    x = function(x, __shfl_xor_sync(0xffffffffU, x, far));
  }
  if (blockDim.x == kWarp) return x;
  __syncthreads();  // all have read what the last call left
  if (threadIdx.x % kWarp == 0) of_warps[threadIdx.x / kWarp] = x;
  __syncthreads();
  x = threadIdx.x % kWarp < blockDim.x / kWarp ? of_warps[threadIdx.x % kWarp] : Function::kNothing;
  for (int far = kWarp / 2; far > 0; far /= 2) {
    x = function(x, __shfl_xor_sync(0xffffffffU, x, far));
  }
  return x;
}

// A few elements for each thread of the block that takes a line.
unsigned threads_for(int64_t count) {
  const int64_t warps = (count + 4 * kWarp - 1) / (4 * kWarp);
  return static_cast<unsigned>(warps < 1 ? 1 : warps > 16 ? 16 : warps) * kWarp;
}

// How many elements of its line a row sees; first_row may be anything, so nothing is added to it.
__device__ int64_t seen_by(const Causal& causal, int64_t line, int64_t count) {
  if (!causal.on) return count;
  const int64_t row = line % causal.rows;
  if (causal.first_row >= count - 1 - row) return count;
  return causal.first_row < -row ? 0 : causal.first_row + row + 1;
}

// Lines without gaps, a block each.
template <class T>
__global__ void softmax_rows(int64_t lines, int64_t count, const Causal causal, const T* x,
                             T* out) {
  for (int64_t line = blockIdx.x; line < lines; line += gridDim.x) {
    const T* from = x + line * count;
    T* to = out + line * count;
    const int64_t seen = seen_by(causal, line, count);
    float largest = Larger::kNothing;
    for (int64_t i = threadIdx.x; i < seen; i += blockDim.x) {
      largest = Larger{}(largest, to_float(from[i]));
    }
    largest = fold_block(largest, Larger{});
    float total = 0;
    for (int64_t i = threadIdx.x; i < seen; i += blockDim.x) {
      total += expf(to_float(from[i]) - largest);
    }
    total = fold_block(total, Add{});
    for (int64_t i = threadIdx.x; i < count; i += blockDim.x) {
      store(to + i, i < seen ? expf(to_float(from[i]) - largest) / total : 0.0F);
    }
  }
}

// Lines with others in between, a thread each: neighbouring threads read neighbouring elements.
template <class T>
__global__ void softmax_columns(const Lines lines, const T* x, T* out) {
  for (int64_t line = thread_index(); line < lines.outer * lines.inner; line += thread_count()) {
    const int64_t outer = line / lines.inner;
    const int64_t begin = outer * lines.count * lines.inner + (line - outer * lines.inner);
    const T* from = x + begin;
    T* to = out + begin;
    float largest = Larger::kNothing;
    for (int64_t i = 0; i < lines.count; ++i) {
      largest = Larger{}(largest, to_float(from[i * lines.inner]));
    }
    float total = 0;
    for (int64_t i = 0; i < lines.count; ++i) {
      total += expf(to_float(from[i * lines.inner]) - largest);
    }
    for (int64_t i = 0; i < lines.count; ++i) {
      store(to + i * lines.inner, expf(to_float(from[i * lines.inner]) - largest) / total);
    }
  }
}

template <class T, class Function>
__global__ void reduce_rows(Function function, int64_t lines, int64_t count, const T* x, T* out) {
  for (int64_t line = blockIdx.x; line < lines; line += gridDim.x) {
    float folded = Function::kNothing;
    for (int64_t i = threadIdx.x; i < count; i += blockDim.x) {
      folded = function(folded, to_float(x[line * count + i]));
    }
    folded = fold_block(folded, function);
    if (threadIdx.x == 0) store(out + line, folded);
  }
}

constexpr int kColumnThreads = 8;

// A block takes 32 neighbouring lines, each with kColumnThreads threads.
template <class T, class Function>
__global__ void reduce_columns(Function function, const Lines lines, const T* x, T* out) {
  __shared__ float parts[kColumnThreads][kWarp];
  const int64_t bands = (lines.inner + kWarp - 1) / kWarp;
  for (int64_t band = blockIdx.x; band < lines.outer * bands; band += gridDim.x) {
    const int64_t outer = band / bands;
    const int64_t column = (band - outer * bands) * kWarp + threadIdx.x;
    float folded = Function::kNothing;
    if (column < lines.inner) {
      const T* from = x + outer * lines.count * lines.inner + column;
      for (int64_t i = threadIdx.y; i < lines.count; i += kColumnThreads) {
        folded = function(folded, to_float(from[i * lines.inner]));
      }
    }
    parts[threadIdx.y][threadIdx.x] = folded;
    __syncthreads();
    if (threadIdx.y == 0 && column < lines.inner) {
      for (int part = 1; part < kColumnThreads; ++part) {
        folded = function(folded, parts[part][threadIdx.x]);
      }
      store(out + outer * lines.inner + column, folded);
    }
    __syncthreads();
  }
}

template <class T>
__global__ void rms_norm_rows(int64_t lines, int64_t count, float epsilon, const T* x,
                              const T* weight, T* out) {
  for (int64_t line = blockIdx.x; line < lines; line += gridDim.x) {
    const T* from = x + line * count;
    float squares = 0;
    for (int64_t i = threadIdx.x; i < count; i += blockDim.x) {
      squares += to_float(from[i]) * to_float(from[i]);
    }
    const float mean = fold_block(squares, Add{}) / static_cast<float>(count);
    const float inverse = 1 / sqrtf(mean + epsilon);
    for (int64_t i = threadIdx.x; i < count; i += blockDim.x) {
      store(out + line * count + i, to_float(from[i]) * inverse * to_float(weight[i]));
    }
  }
}

// In doubles: a float does not hold how far a late position has turned.
__global__ void turns_kernel(int64_t positions, int64_t pairs, double first, double base,
                             float* turns) {
  for (int64_t i = thread_index(); i < positions * pairs; i += thread_count()) {
    const int64_t position = i / pairs;
    const auto pair = static_cast<double>(i - position * pairs);
    const double step = pow(base, -pair / static_cast<double>(pairs));
    double sine;
    double cosine;
    sincos((first + static_cast<double>(position)) * step, &sine, &cosine);
    turns[2 * i] = static_cast<float>(cosine);
    turns[2 * i + 1] = static_cast<float>(sine);
  }
}

template <class T>
__global__ void rope_kernel(const Lines lines, int64_t pairs, const float* turns, const T* x,
                            T* out) {
  const int64_t total = lines.outer * lines.count * lines.inner;
  for (int64_t i = thread_index(); i < total; i += thread_count()) {
    const int64_t position = i / lines.inner % lines.count;
    const float* turn = turns + 2 * (position * pairs + i % pairs);
    const float even = to_float(x[2 * i]);
    const float odd = to_float(x[2 * i + 1]);
    store(out + 2 * i, even * turn[0] - odd * turn[1]);
    store(out + 2 * i + 1, even * turn[1] + odd * turn[0]);
  }
}

}  // namespace

void softmax(Queue queue, Element element, const Lines& lines, const Causal& causal, const void* x,
             void* out) {
  const int64_t count = lines.outer * lines.inner;
  if (count * lines.count == 0) return;
  with_element(element, [&](auto zero) {
    using T = decltype(zero);
    const auto* from = static_cast<const T*>(x);
    auto* to = static_cast<T*>(out);
    if (lines.inner == 1) {
      softmax_rows<T><<<blocks_for(queue, count, 1), threads_for(lines.count), 0, queue.stream>>>(
          count, lines.count, causal, from, to);
    } else {
      softmax_columns<T><<<blocks_for(queue, count, 64), 64, 0, queue.stream>>>(lines, from, to);
    }
  });
}

void reduce(Queue queue, Fold function, Element element, const Lines& lines, const void* x,
            void* out) {
  const int64_t count = lines.outer * lines.inner;
  if (count == 0) return;
  with_element(element, [&](auto zero) {
    using T = decltype(zero);
    const auto* from = static_cast<const T*>(x);
    auto* to = static_cast<T*>(out);
    const auto launch = [&](auto code) {
      if (lines.inner == 1) {
        reduce_rows<T><<<blocks_for(queue, count, 1), threads_for(lines.count), 0, queue.stream>>>(
            code, count, lines.count, from, to);
      } else {
        const int64_t bands = lines.outer * ((lines.inner + kWarp - 1) / kWarp);
        reduce_columns<T>
            <<<blocks_for(queue, bands, 1), dim3(kWarp, kColumnThreads), 0, queue.stream>>>(
                code, lines, from, to);
      }
    };
    if (function == Fold::sum) {
      launch(Add{});
    } else {
      launch(Larger{});
    }
  });
}

void rms_norm(Queue queue, Element element, int64_t lines, int64_t count, float epsilon,
              const void* x, const void* weight, void* out) {
  if (lines * count == 0) return;
  with_element(element, [&](auto zero) {
    using T = decltype(zero);
    rms_norm_rows<T><<<blocks_for(queue, lines, 1), threads_for(count), 0, queue.stream>>>(
        lines, count, epsilon, static_cast<const T*>(x), static_cast<const T*>(weight),
        static_cast<T*>(out));
  });
}

void rope_turns(Queue queue, int64_t positions, int64_t pairs, double first, double base,
                float* turns) {
  if (positions * pairs == 0) return;
  turns_kernel<<<blocks_for(queue, positions * pairs, 128), 128, 0, queue.stream>>>(
      positions, pairs, first, base, turns);
}

void rope(Queue queue, Element element, const Lines& lines, int64_t pairs, const float* turns,
          const void* x, void* out) {
  const int64_t total = lines.outer * lines.count * lines.inner;
  if (total == 0) return;
  with_element(element, [&](auto zero) {
    using T = decltype(zero);
    rope_kernel<T><<<blocks_for(queue, total, 256), 256, 0, queue.stream>>>(
        lines, pairs, turns, static_cast<const T*>(x), static_cast<T*>(out));
  });
}

}  // namespace tutti::cuda
