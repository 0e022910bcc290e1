// A stream of one GPU and the event by which a thread waits for it. Work goes in from one thread at
// a time; it need not be the one that opened it.

#ifndef TUTTI_KERNELS_CUDA_STREAM_H_
#define TUTTI_KERNELS_CUDA_STREAM_H_

#include <utility>

#include "tutti/base/result.h"

struct CUstream_st;
struct CUevent_st;

namespace tutti {

class CudaStream {
 public:
  // Of the GPU that is current to this thread.
  static Result<CudaStream> open();
  // Takes over a stream. It needs an event of the same context, which should let a thread that
  // waits for it sleep, before anybody waits.
  explicit CudaStream(CUstream_st* stream) : stream_(stream) {}
  void take_event(CUevent_st* event) { event_ = event; }
  CudaStream(CudaStream&& other) noexcept
      : stream_(std::exchange(other.stream_, nullptr)),
        event_(std::exchange(other.event_, nullptr)) {}
  CudaStream& operator=(CudaStream&&) = delete;
  ~CudaStream();

  CUstream_st* get() const { return stream_; }

  // Waits until all work in the stream has ended: awake for as long as short ops take, then asleep.
  // Fails if any of it failed, or any other work of the GPU's in a way that loses the GPU.
  Result<void> wait() const;

 private:
  CUstream_st* stream_;
  CUevent_st* event_ = nullptr;
};

}  // namespace tutti

#endif  // TUTTI_KERNELS_CUDA_STREAM_H_
