// Memories that GPUs reach: their own, and pinned memory of the host. Both take memory of the
// system in large pieces and keep it until they go, because asking for it can make the whole GPU
// wait.

#ifndef TUTTI_RUNTIME_LOCAL_CUDA_STORES_H_
#define TUTTI_RUNTIME_LOCAL_CUDA_STORES_H_

#include <memory>
#include <vector>

#include "tutti/base/mutex.h"
#include "tutti/kernels/cuda/stream.h"
#include "tutti/runtime/local/arena.h"
#include "tutti/runtime/local/hardware.h"

namespace tutti {

// Finds room in pieces that a subclass fetches. Any thread may call it.
class PieceStore : public Store {
 public:
  // No more than so many bytes are taken at a time.
  explicit PieceStore(int64_t capacity_bytes) : capacity_bytes_(capacity_bytes) {}

  void* allocate(int64_t bytes) override;
  void release(void* address, int64_t bytes) override;

 protected:
  // Null if the system has no more.
  virtual void* fetch(int64_t bytes) = 0;
  // Everything fetched, for the subclass to give back when it goes.
  std::vector<void*> take_pieces();

 private:
  int64_t capacity_bytes_;
  Mutex mutex_;
  Arena arena_ GUARDED_BY(mutex_);
  std::vector<void*> pieces_ GUARDED_BY(mutex_);
  int64_t used_ GUARDED_BY(mutex_) = 0;
};

class GpuStore : public PieceStore {
 public:
  static Result<std::unique_ptr<GpuStore>> open(int gpu, int64_t capacity_bytes);
  ~GpuStore() override;

  Result<void> write(void* to, const void* from, int64_t bytes) override;
  Result<void> read(void* to, const void* from, int64_t bytes) override;

 protected:
  void* fetch(int64_t bytes) override;

 private:
  GpuStore(int gpu, int64_t capacity_bytes, CudaStream stream)
      : PieceStore(capacity_bytes), gpu_(gpu), stream_(std::move(stream)) {}
  Result<void> copy(void* to, const void* from, int64_t bytes);

  int gpu_;
  Mutex mutex_;
  CudaStream stream_ GUARDED_BY(mutex_);
};

class PinnedStore : public PieceStore {
 public:
  using PieceStore::PieceStore;
  ~PinnedStore() override;

  bool ordinary() const override { return true; }
  Result<void> write(void* to, const void* from, int64_t bytes) override;
  Result<void> read(void* to, const void* from, int64_t bytes) override;

 protected:
  void* fetch(int64_t bytes) override;
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_LOCAL_CUDA_STORES_H_
