#include "tutti/kernels/cuda/device_common.h"

namespace tutti::cuda {
namespace {

constexpr int kThreads = 256;

template <class Index, class T>
__global__ void copy_kernel(const Loops loops, const T* from, T* to) {
  for (int64_t i = thread_index(); i < loops.total; i += thread_count()) {
    int64_t source;
    int64_t target;
    places(loops, static_cast<Index>(i), source, target);
    to[target] = from[source];
  }
}

constexpr int kSquare = 32;
constexpr int kSquareThreads = 8;

// A loop in addition to those of a nest.
struct Loop {
  int64_t size;
  int64_t first;
  int64_t second;
};

// `from` has no gaps along the rows, `to` hardly any along the columns: squares go by way of shared
// memory, so that both sides are touched in whole lines.
template <class T>
__global__ void turn_kernel(const Loops others, const Loop rows, const Loop columns, const T* from,
                            T* to) {
  __shared__ T square[kSquare][kSquare + 1];  // one more: no two rows of a column in one bank
  const int64_t down = (rows.size + kSquare - 1) / kSquare;
  const int64_t across = (columns.size + kSquare - 1) / kSquare;
  for (int64_t i = blockIdx.x; i < others.total * down * across; i += gridDim.x) {
    const int64_t row = i / across % down * kSquare;
    const int64_t column = i % across * kSquare;
    int64_t source;
    int64_t target;
    places(others, i / across / down, source, target);
    for (int j = static_cast<int>(threadIdx.y); j < kSquare; j += kSquareThreads) {
      if (row + threadIdx.x < rows.size && column + j < columns.size) {
        square[j][threadIdx.x] =
            from[source + (row + threadIdx.x) * rows.first + (column + j) * columns.first];
      }
    }
    __syncthreads();
    for (int j = static_cast<int>(threadIdx.y); j < kSquare; j += kSquareThreads) {
      if (row + j < rows.size && column + threadIdx.x < columns.size) {
        to[target + (row + j) * rows.second + (column + threadIdx.x) * columns.second] =
            square[threadIdx.x][j];
      }
    }
    __syncthreads();
  }
}

// The loop along which `from` has no gaps, if that is not the innermost; -1: there is none.
int turned_loop(const Loops& loops) {
  if (loops.count < 2 || loops.first[loops.count - 1] == 1) return -1;
  for (int i = 0; i + 1 < loops.count; ++i) {
    if (loops.first[i] == 1 && loops.sizes[i] >= 8 && loops.sizes[loops.count - 1] >= 8) return i;
  }
  return -1;
}

template <class T>
void copy_as(Queue queue, const Loops& loops, const T* from, T* to) {
  const int turned = turned_loop(loops);
  if (turned < 0) {
    const unsigned blocks = blocks_for(queue, loops.total, kThreads);
    if (is_small(loops.total)) {
      copy_kernel<uint32_t><<<blocks, kThreads, 0, queue.stream>>>(loops, from, to);
    } else {
      copy_kernel<int64_t><<<blocks, kThreads, 0, queue.stream>>>(loops, from, to);
    }
    return;
  }
  const auto loop = [&](int i) { return Loop{loops.sizes[i], loops.first[i], loops.second[i]}; };
  const int last = loops.count - 1;
  Loops others;
  for (int i = 0; i < last; ++i) {
    if (i == turned) continue;
    others.sizes[others.count] = loops.sizes[i];
    others.first[others.count] = loops.first[i];
    others.second[others.count++] = loops.second[i];
    others.total *= loops.sizes[i];
  }
  const auto squares = [](int64_t size) { return (size + kSquare - 1) / kSquare; };
  const int64_t work = others.total * squares(loops.sizes[turned]) * squares(loops.sizes[last]);
  turn_kernel<T><<<blocks_for(queue, work, 1), dim3(kSquare, kSquareThreads), 0, queue.stream>>>(
      others, loop(turned), loop(last), from, to);
}

__device__ double id_of(int32_t id) {
  return id;
}
__device__ double id_of(float id) {
  return id;
}
__device__ double id_of(__nv_bfloat16 id) {
  return __bfloat162float(id);
}

// The row of an id, or -1: a double holds all ids of all dtypes.
template <class I>
__device__ int64_t row_of(const Table& table, I id) {
  const double row = id_of(id) - table.first_row;
  const bool good = row >= 0 && row < static_cast<double>(table.rows) && row == floor(row);
  return good ? static_cast<int64_t>(row) : -1;
}

template <class T, class I>
__global__ void gather_kernel(int64_t count, const I* ids, const Table table, T* out) {
  const auto* from = static_cast<const T*>(table.data);
  for (int64_t i = thread_index(); i < count * table.width; i += thread_count()) {
    const int64_t at = i / table.width;
    const int64_t row = row_of(table, ids[at]);
    out[i] = row < 0 ? T{} : from[row * table.width + (i - at * table.width)];
  }
}

template <class I>
__global__ void wrong_id_kernel(int64_t count, const I* ids, const Table table,
                                unsigned long long* wrong) {
  for (int64_t i = thread_index(); i < count; i += thread_count()) {
    if (row_of(table, ids[i]) < 0) atomicMin(wrong, static_cast<unsigned long long>(i));
  }
}

template <class Use>
void with_ids(Id id, const void* ids, Use use) {
  switch (id) {
    case Id::i32:
      return use(static_cast<const int32_t*>(ids));
    case Id::f32:
      return use(static_cast<const float*>(ids));
    case Id::bf16:
      return use(static_cast<const __nv_bfloat16*>(ids));
  }
}

}  // namespace

void copy(Queue queue, int element_bytes, const Loops& loops, const void* from, void* to) {
  if (loops.total == 0) return;
  if (element_bytes == 4) {
    copy_as(queue, loops, static_cast<const uint32_t*>(from), static_cast<uint32_t*>(to));
  } else {
    copy_as(queue, loops, static_cast<const uint16_t*>(from), static_cast<uint16_t*>(to));
  }
}

void gather(Queue queue, int element_bytes, Id id, int64_t count, const void* ids,
            const Table& table, void* out) {
  if (count * table.width == 0) return;
  const unsigned blocks = blocks_for(queue, count * table.width, kThreads);
  with_ids(id, ids, [&](const auto* from) {
    if (element_bytes == 4) {
      gather_kernel<<<blocks, kThreads, 0, queue.stream>>>(count, from, table,
                                                           static_cast<uint32_t*>(out));
    } else {
      gather_kernel<<<blocks, kThreads, 0, queue.stream>>>(count, from, table,
                                                           static_cast<uint16_t*>(out));
    }
  });
}

void find_wrong_id(Queue queue, Id id, int64_t count, const void* ids, const Table& table,
                   unsigned long long* wrong) {
  if (count == 0) return;
  with_ids(id, ids, [&](const auto* from) {
    wrong_id_kernel<<<blocks_for(queue, count, kThreads), kThreads, 0, queue.stream>>>(
        count, from, table, wrong);
  });
}

}  // namespace tutti::cuda
