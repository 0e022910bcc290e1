#include "tutti/kernels/cuda/stream.h"

#include <cuda_runtime_api.h>

#include <chrono>

#include "tutti/kernels/cuda/error.h"

namespace tutti {
namespace {

// A thread that sleeps is woken some 20 us late; one that stays awake takes a core from others.
constexpr std::chrono::microseconds kAwake{100};

}  // namespace

Result<CudaStream> CudaStream::open() {
  constexpr auto kDoing = "a stream cannot be opened";
  cudaStream_t stream = nullptr;
  if (auto made = cuda::done(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), kDoing);
      !made) {
    return made.error();
  }
  CudaStream opened(stream);  // gives the stream back if there is no event for it
  const int code =
      cudaEventCreateWithFlags(&opened.event_, cudaEventBlockingSync | cudaEventDisableTiming);
  if (auto made = cuda::done(code, kDoing); !made) return made.error();
  return opened;
}

CudaStream::~CudaStream() {
  if (event_ != nullptr) cudaEventDestroy(event_);
  if (stream_ != nullptr) cudaStreamDestroy(stream_);
}

Result<void> CudaStream::wait() const {
  constexpr auto kDoing = "the GPU failed";
  if (auto recorded = cuda::done(cudaEventRecord(event_, stream_), kDoing); !recorded) {
    return recorded.error();
  }
  const auto until = std::chrono::steady_clock::now() + kAwake;
  cudaError_t state = cudaEventQuery(event_);
  while (state == cudaErrorNotReady && std::chrono::steady_clock::now() < until) {
    state = cudaEventQuery(event_);
  }
  // That it was not ready is remembered as an error, and is none.
  if (cudaPeekAtLastError() == cudaErrorNotReady) (void)cudaGetLastError();
  if (state == cudaErrorNotReady) state = cudaEventSynchronize(event_);
  return cuda::done(state, kDoing);
}

}  // namespace tutti
