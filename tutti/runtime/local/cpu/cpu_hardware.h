// Cores as hardware of the local engine: memories are this process's own, each slot is a team of
// pinned cores that share an op by its parts, values are copied by memcpy.

#ifndef TUTTI_RUNTIME_LOCAL_CPU_CPU_HARDWARE_H_
#define TUTTI_RUNTIME_LOCAL_CPU_CPU_HARDWARE_H_

#include <memory>
#include <vector>

#include "tutti/runtime/local/cpu/cores.h"
#include "tutti/runtime/local/hardware.h"

namespace tutti {

// Memory of this process.
class HostStore : public Store {
 public:
  void* allocate(int64_t bytes) override;
  void release(void* address, int64_t bytes) override;
  bool ordinary() const override { return true; }
  Result<void> write(void* to, const void* from, int64_t bytes) override;
  Result<void> read(void* to, const void* from, int64_t bytes) override;
};

class CpuHardware : public Hardware {
 public:
  // Binds the machine's CPUs to these cores, of which there is at least one; serves its other
  // devices' memories as if they were a host's.
  CpuHardware(const Machine& machine, const std::vector<int>& cores);

  Store& store(MemoryId memory) override;
  // Requires a CPU.
  std::unique_ptr<SlotRunner> slot(DeviceId device, int index) override;
  std::unique_ptr<Copier> copier(MemoryId from, MemoryId to) override;
  std::string note() const override;

 private:
  std::vector<int> cores_;
  CoreBinding binding_;
  std::vector<HostStore> stores_;  // by memory
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_LOCAL_CPU_CPU_HARDWARE_H_
