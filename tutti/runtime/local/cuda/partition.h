// A partition of a GPU: some of its multiprocessors, as a green context of the CUDA driver. Work in
// its streams runs on those alone, and other partitions' work does not.

#ifndef TUTTI_RUNTIME_LOCAL_CUDA_PARTITION_H_
#define TUTTI_RUNTIME_LOCAL_CUDA_PARTITION_H_

#include <memory>
#include <span>
#include <vector>

#include "tutti/base/mutex.h"
#include "tutti/kernels/cuda/stream.h"

struct CUgreenCtx_st;
struct CUctx_st;

namespace tutti {

class Partition {
 public:
  // Disjoint partitions of the GPU that is current to this thread, with so many multiprocessors
  // each, in that order. Fails (invalid_input) with a sentence if the GPU cannot be split so:
  // multiprocessors come in groups, by 8 or 16 as a rule.
  static Result<std::vector<std::shared_ptr<Partition>>> split(std::span<const int> counts);
  ~Partition();
  Partition(const Partition&) = delete;
  Partition& operator=(const Partition&) = delete;

  int multiprocessors() const { return multiprocessors_; }
  // Must not outlive the partition. Any thread may ask.
  Result<CudaStream> open_stream();

 private:
  struct Driver;
  class Splitter;
  Partition(const Driver& driver, CUgreenCtx_st* green, int multiprocessors)
      : driver_(driver), green_(green), multiprocessors_(multiprocessors) {}

  const Driver& driver_;
  CUgreenCtx_st* green_;
  int multiprocessors_;
  Mutex mutex_;  // a green context is current to one thread at a time
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_LOCAL_CUDA_PARTITION_H_
