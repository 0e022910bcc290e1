// A CudaLane is where kernels run on a GPU: a stream, cuBLAS bound to it, and memory for their own
// use. One host thread uses it at a time, with the lane's GPU current to it (cudaSetDevice). Work
// that is put into a lane runs in order; a kernel returns when it has put its own in, and only
// those that look for wrong numbers wait for it.

#ifndef TUTTI_KERNELS_CUDA_LANE_H_
#define TUTTI_KERNELS_CUDA_LANE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "tutti/kernels/cuda/device.h"
#include "tutti/kernels/cuda/stream.h"

struct cublasContext;

namespace tutti {

namespace cuda {
struct Cublas;
}

class CudaLane {
 public:
  // On a stream of the GPU that is current to this thread. The stream's work runs on so many
  // multiprocessors; 0: on all.
  static Result<std::unique_ptr<CudaLane>> open(CudaStream stream, int multiprocessors = 0);
  // Waits for the lane's work. The GPU must be current to the thread.
  ~CudaLane();

  const CudaStream& stream() const { return stream_; }
  cuda::Queue queue() const { return {stream_.get(), multiprocessors_}; }

  // So many bytes for the work put in until the next call, aligned to 256 bytes. It grows and is
  // kept. Fails (infeasible) if the GPU's memory is full.
  Result<std::byte*> scratch(int64_t bytes);

  // cuBLAS on this lane's stream, in true f32 and with f32 sums of bf16. Opened by the first call,
  // which fails if it is not there.
  struct Blas {
    const cuda::Cublas& functions;
    cublasContext* handle;
  };
  Result<Blas> blas();

  // How work finds a wrong number: it lowers what begin_search gives to the place of it, and
  // end_search, once the work put in until then has ended, has the first place.
  Result<unsigned long long*> begin_search();
  Result<std::optional<int64_t>> end_search();

 private:
  CudaLane(CudaStream stream, int multiprocessors, bool whole)
      : stream_(std::move(stream)), multiprocessors_(multiprocessors), whole_(whole) {}

  CudaStream stream_;
  int multiprocessors_;
  bool whole_;  // all that the GPU has
  cublasContext* handle_ = nullptr;
  // Grown, not replaced: freeing would wait for all of the GPU. The last is the largest.
  std::vector<std::byte*> scratch_;
  int64_t scratch_bytes_ = 0;
  unsigned long long* wrong_ = nullptr;  // on the GPU, and
  unsigned long long* found_ = nullptr;  // where the host reads it
};

}  // namespace tutti

#endif  // TUTTI_KERNELS_CUDA_LANE_H_
