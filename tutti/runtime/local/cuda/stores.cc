#include "tutti/runtime/local/cuda/stores.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstring>

#include "tutti/kernels/cuda/error.h"
#include "tutti/runtime/local/cuda/current.h"

namespace tutti {
namespace {

constexpr int64_t kPieceBytes = int64_t{256} << 20;

Result<void> copy_here(void* to, const void* from, int64_t bytes) {
  if (bytes > 0) std::memcpy(to, from, static_cast<size_t>(bytes));
  return {};
}

}  // namespace

void* PieceStore::allocate(int64_t bytes) {
  const MutexLock lock(mutex_);
  if (bytes > capacity_bytes_ - used_) return nullptr;
  void* address = arena_.take(bytes);
  if (address == nullptr) {
    const int64_t least = Arena::room_for(bytes);
    // Small values share a piece; what is too large for one, or for what the system has left, gets
    // one of its own.
    for (const int64_t wanted : {std::max(least, kPieceBytes), least}) {
      void* const piece = fetch(wanted);
      if (piece == nullptr) continue;
      pieces_.push_back(piece);
      arena_.add_piece(piece, wanted);
      break;
    }
    address = arena_.take(bytes);
  }
  if (address != nullptr) used_ += bytes;
  return address;
}

void PieceStore::release(void* address, int64_t bytes) {
  const MutexLock lock(mutex_);
  arena_.give(address);
  used_ -= bytes;
}

std::vector<void*> PieceStore::take_pieces() {
  const MutexLock lock(mutex_);
  return std::move(pieces_);
}

Result<std::unique_ptr<GpuStore>> GpuStore::open(int gpu, int64_t capacity_bytes) {
  const CurrentGpu current(gpu);
  Result<CudaStream> stream = CudaStream::open();
  if (!stream) return stream.error();
  return std::unique_ptr<GpuStore>(new GpuStore(gpu, capacity_bytes, std::move(*stream)));
}

GpuStore::~GpuStore() {
  const CurrentGpu current(gpu_);
  for (void* piece : take_pieces()) cudaFree(piece);
}

void* GpuStore::fetch(int64_t bytes) {
  const CurrentGpu current(gpu_);
  void* piece = nullptr;
  if (cudaMalloc(&piece, static_cast<size_t>(bytes)) == cudaSuccess) return piece;
  (void)cudaGetLastError();  // told by null
  return nullptr;
}

Result<void> GpuStore::copy(void* to, const void* from, int64_t bytes) {
  if (bytes == 0) return {};
  const CurrentGpu current(gpu_);
  const MutexLock lock(mutex_);
  const int code =
      cudaMemcpyAsync(to, from, static_cast<size_t>(bytes), cudaMemcpyDefault, stream_.get());
  if (auto started = cuda::done(code, "a value cannot be copied"); !started) return started.error();
  return stream_.wait();
}

Result<void> GpuStore::write(void* to, const void* from, int64_t bytes) {
  return copy(to, from, bytes);
}

Result<void> GpuStore::read(void* to, const void* from, int64_t bytes) {
  return copy(to, from, bytes);
}

PinnedStore::~PinnedStore() {
  for (void* piece : take_pieces()) cudaFreeHost(piece);
}

// For all GPUs alike.
void* PinnedStore::fetch(int64_t bytes) {
  void* piece = nullptr;
  if (cudaHostAlloc(&piece, static_cast<size_t>(bytes), cudaHostAllocPortable) == cudaSuccess) {
    return piece;
  }
  (void)cudaGetLastError();  // told by null
  return nullptr;
}

Result<void> PinnedStore::write(void* to, const void* from, int64_t bytes) {
  return copy_here(to, from, bytes);
}

Result<void> PinnedStore::read(void* to, const void* from, int64_t bytes) {
  return copy_here(to, from, bytes);
}

}  // namespace tutti
