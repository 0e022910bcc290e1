// The GPUs of a machine, whole or in partitions, and the memories that they use. See gpus.h, by
// which others get at it.

#ifndef TUTTI_RUNTIME_LOCAL_CUDA_CUDA_HARDWARE_H_
#define TUTTI_RUNTIME_LOCAL_CUDA_CUDA_HARDWARE_H_

#include <memory>
#include <optional>
#include <vector>

#include "tutti/runtime/local/cuda/partition.h"
#include "tutti/runtime/local/cuda/stores.h"
#include "tutti/runtime/local/gpus.h"

namespace tutti {

class CudaHardware : public Hardware {
 public:
  // See with_gpus.
  static Result<std::unique_ptr<CudaHardware>> open(const Machine& machine,
                                                    std::unique_ptr<Hardware> others,
                                                    GpuOptions options);

  Store& store(MemoryId memory) override;
  std::unique_ptr<SlotRunner> slot(DeviceId device, int index) override;
  std::unique_ptr<Copier> copier(MemoryId from, MemoryId to) override;
  std::string note() const override;

 private:
  // What a device or a memory is bound to.
  struct Gpu {
    int ordinal = 0;
    std::shared_ptr<Partition> partition{};  // null: all of it
  };

  CudaHardware(const Machine& machine, std::unique_ptr<Hardware> others, GpuOptions options);
  Result<void> bind_devices();
  Result<void> bind_partitions(std::span<const DeviceId> devices);
  Result<void> open_stores();
  const std::optional<Gpu>& gpu_of(MemoryId memory) const {
    return by_memory_[static_cast<size_t>(memory.index)];
  }

  const Machine& machine_;
  std::unique_ptr<Hardware> others_;
  GpuOptions options_;
  std::vector<std::optional<Gpu>> by_device_;   // none: no GPU
  std::vector<std::optional<Gpu>> by_memory_;   // none: a host's
  std::vector<std::unique_ptr<Store>> stores_;  // by memory
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_LOCAL_CUDA_CUDA_HARDWARE_H_
