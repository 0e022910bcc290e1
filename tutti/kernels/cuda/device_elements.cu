#include "tutti/kernels/cuda/device_common.h"

namespace tutti::cuda {
namespace {

constexpr int kThreads = 256;

struct Scale {
  float factor;
  __device__ float operator()(float x) const { return factor * x; }
};
struct Relu {
  __device__ float operator()(float x) const { return x < 0 ? 0.0F : x; }
};
struct Silu {
  __device__ float operator()(float x) const { return x / (1 + expf(-x)); }
};
struct Add {
  __device__ float operator()(float a, float b) const { return a + b; }
};
struct Subtract {
  __device__ float operator()(float a, float b) const { return a - b; }
};
struct Multiply {
  __device__ float operator()(float a, float b) const { return a * b; }
};
struct ReluGradient {
  __device__ float operator()(float x, float dy) const { return x > 0 ? dy : 0.0F; }
};
struct Larger {
  __device__ float operator()(float a, float b) const { return a < b ? b : a; }
};

template <class Use>
void with_function(Binary function, Use use) {
  switch (function) {
    case Binary::add:
      return use(Add{});
    case Binary::subtract:
      return use(Subtract{});
    case Binary::multiply:
      return use(Multiply{});
    case Binary::relu_gradient:
      return use(ReluGradient{});
  }
}

// Elements that are read and written at once: 16 bytes, where addresses allow it.
template <class T, int kWidth>
struct alignas(sizeof(T) * kWidth) Pack {
  T at[kWidth];
};

bool is_aligned(const void* address) {
  return reinterpret_cast<uintptr_t>(address) % 16 == 0;
}

// Calls visit(i, pack of zeros) for packs, and then, one by one, for what is left over.
template <int kWidth, class T, class Visit>
__device__ void for_each_pack(int64_t count, Visit visit) {
  const int64_t packs = count / kWidth;
  for (int64_t i = thread_index(); i < packs; i += thread_count()) visit(i, Pack<T, kWidth>{});
  for (int64_t i = packs * kWidth + thread_index(); i < count; i += thread_count()) {
    visit(i, Pack<T, 1>{});
  }
}

template <class P, class T>
__device__ P load(const T* from, int64_t i) {
  return reinterpret_cast<const P*>(from)[i];
}
template <class P, class T>
__device__ void store_pack(T* to, int64_t i, const P& pack) {
  reinterpret_cast<P*>(to)[i] = pack;
}
template <class T, int kWidth>
__device__ constexpr int width_of(const Pack<T, kWidth>&) {
  return kWidth;
}

template <int kWidth, class T, class Function>
__global__ void each_kernel(Function function, int64_t count, const T* x, T* out) {
  for_each_pack<kWidth, T>(count, [&](int64_t i, auto pack) {
    pack = load<decltype(pack)>(x, i);
    for (int j = 0; j < width_of(pack); ++j) store(&pack.at[j], function(to_float(pack.at[j])));
    store_pack(out, i, pack);
  });
}

template <int kWidth, class T, class Function>
__global__ void alike_kernel(Function function, int64_t count, const T* a, const T* b, T* out) {
  for_each_pack<kWidth, T>(count, [&](int64_t i, auto pack) {
    pack = load<decltype(pack)>(a, i);
    const auto other = load<decltype(pack)>(b, i);
    for (int j = 0; j < width_of(pack); ++j) {
      store(&pack.at[j], function(to_float(pack.at[j]), to_float(other.at[j])));
    }
    store_pack(out, i, pack);
  });
}

template <int kWidth, class T, class Function>
__global__ void fold_kernel(Function function, int64_t count, const Arrays arrays, T* out) {
  for_each_pack<kWidth, T>(count, [&](int64_t i, auto pack) {
    float folded[width_of(pack)];
    pack = load<decltype(pack)>(static_cast<const T*>(arrays.data[0]), i);
    for (int j = 0; j < width_of(pack); ++j) folded[j] = to_float(pack.at[j]);
    for (int k = 1; k < arrays.count; ++k) {
      pack = load<decltype(pack)>(static_cast<const T*>(arrays.data[k]), i);
      for (int j = 0; j < width_of(pack); ++j) {
        folded[j] = function(folded[j], to_float(pack.at[j]));
      }
    }
    for (int j = 0; j < width_of(pack); ++j) store(&pack.at[j], folded[j]);
    store_pack(out, i, pack);
  });
}

template <class Index, class T, class Function>
__global__ void pair_kernel(Function function, const Loops loops, const T* a, const T* b, T* out) {
  for (int64_t i = thread_index(); i < loops.total; i += thread_count()) {
    int64_t in_a;
    int64_t in_b;
    places(loops, static_cast<Index>(i), in_a, in_b);
    store(out + i, function(to_float(a[in_a]), to_float(b[in_b])));
  }
}

template <class From, class To>
__global__ void convert_kernel(int64_t count, const From* from, To* to) {
  for (int64_t i = thread_index(); i < count; i += thread_count()) store(to + i, to_float(from[i]));
}

template <class From, class To>
void convert(Queue queue, int64_t count, const From* from, To* to) {
  if (count == 0) return;
  convert_kernel<<<blocks_for(queue, count, kThreads), kThreads, 0, queue.stream>>>(count, from,
                                                                                    to);
}

// Launches kernel<width, T>(arguments...): wide if all addresses allow it.
#define TUTTI_LAUNCH_PACKED(kernel, aligned, ...)                                           \
  do {                                                                                      \
    constexpr int kWidth = 16 / sizeof(T);                                                  \
    if (aligned) {                                                                          \
      kernel<kWidth, T>                                                                     \
          <<<blocks_for(queue, count, kThreads* kWidth), kThreads, 0, queue.stream>>>(      \
              __VA_ARGS__);                                                                 \
    } else {                                                                                \
      kernel<1, T>                                                                          \
          <<<blocks_for(queue, count, kThreads), kThreads, 0, queue.stream>>>(__VA_ARGS__); \
    }                                                                                       \
  } while (false)

}  // namespace

void each(Queue queue, Unary function, float factor, Element element, int64_t count, const void* x,
          void* out) {
  if (count == 0) return;
  const bool aligned = is_aligned(x) && is_aligned(out);
  with_element(element, [&](auto zero) {
    using T = decltype(zero);
    const auto launch = [&](auto code) {
      TUTTI_LAUNCH_PACKED(each_kernel, aligned, code, count, static_cast<const T*>(x),
                          static_cast<T*>(out));
    };
    switch (function) {
      case Unary::scale:
        return launch(Scale{factor});
      case Unary::relu:
        return launch(Relu{});
      case Unary::silu:
        return launch(Silu{});
    }
  });
}

void each_alike(Queue queue, Binary function, Element element, int64_t count, const void* a,
                const void* b, void* out) {
  if (count == 0) return;
  const bool aligned = is_aligned(a) && is_aligned(b) && is_aligned(out);
  with_element(element, [&](auto zero) {
    using T = decltype(zero);
    with_function(function, [&](auto code) {
      TUTTI_LAUNCH_PACKED(alike_kernel, aligned, code, count, static_cast<const T*>(a),
                          static_cast<const T*>(b), static_cast<T*>(out));
    });
  });
}

void each_pair(Queue queue, Binary function, Element element, const Loops& loops, const void* a,
               const void* b, void* out) {
  if (loops.total == 0) return;
  const unsigned blocks = blocks_for(queue, loops.total, kThreads);
  with_element(element, [&](auto zero) {
    using T = decltype(zero);
    const auto* from_a = static_cast<const T*>(a);
    const auto* from_b = static_cast<const T*>(b);
    with_function(function, [&](auto code) {
      if (is_small(loops.total)) {
        pair_kernel<uint32_t, T><<<blocks, kThreads, 0, queue.stream>>>(code, loops, from_a, from_b,
                                                                        static_cast<T*>(out));
      } else {
        pair_kernel<int64_t, T><<<blocks, kThreads, 0, queue.stream>>>(code, loops, from_a, from_b,
                                                                       static_cast<T*>(out));
      }
    });
  });
}

void fold(Queue queue, Fold function, Element element, int64_t count, const Arrays& arrays,
          void* out) {
  if (count == 0) return;
  bool aligned = is_aligned(out);
  for (int i = 0; i < arrays.count; ++i) aligned = aligned && is_aligned(arrays.data[i]);
  with_element(element, [&](auto zero) {
    using T = decltype(zero);
    if (function == Fold::sum) {
      TUTTI_LAUNCH_PACKED(fold_kernel, aligned, Add{}, count, arrays, static_cast<T*>(out));
    } else {
      TUTTI_LAUNCH_PACKED(fold_kernel, aligned, Larger{}, count, arrays, static_cast<T*>(out));
    }
  });
}

void widen(Queue queue, int64_t count, const void* bf16, float* out) {
  convert(queue, count, static_cast<const __nv_bfloat16*>(bf16), out);
}

void narrow(Queue queue, int64_t count, const float* x, void* bf16) {
  convert(queue, count, x, static_cast<__nv_bfloat16*>(bf16));
}

}  // namespace tutti::cuda
