#include "tutti/runtime/local/cpu/cpu_hardware.h"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <utility>

#include "tutti/runtime/local/cpu/team.h"

namespace tutti {
namespace {

class HostCopier : public Copier {
 public:
  explicit HostCopier(std::vector<int> cores) : cores_(std::move(cores)) {}

  // Its thread may have been started by one that keeps to a core.
  Result<void> enter() override {
    pin_this_thread(cores_);
    return {};
  }
  Result<void> copy(void* to, const void* from, int64_t bytes) override {
    if (bytes > 0) std::memcpy(to, from, static_cast<size_t>(bytes));
    return {};
  }

 private:
  std::vector<int> cores_;
};

}  // namespace

void* HostStore::allocate(int64_t bytes) {
  constexpr size_t kAlignment = 64;
  const size_t whole = (static_cast<size_t>(bytes) + kAlignment - 1) / kAlignment * kAlignment;
  return std::aligned_alloc(kAlignment, whole);
}

void HostStore::release(void* address, int64_t /*bytes*/) {
  std::free(address);
}

Result<void> HostStore::write(void* to, const void* from, int64_t bytes) {
  std::memcpy(to, from, static_cast<size_t>(bytes));
  return {};
}

Result<void> HostStore::read(void* to, const void* from, int64_t bytes) {
  std::memcpy(to, from, static_cast<size_t>(bytes));
  return {};
}

CpuHardware::CpuHardware(const Machine& machine, const std::vector<int>& cores)
    : cores_(cores),
      binding_(bind_cores(machine, cores)),
      stores_(static_cast<size_t>(machine.memory_count())) {}

Store& CpuHardware::store(MemoryId memory) {
  return stores_[static_cast<size_t>(memory.index)];
}

std::unique_ptr<SlotRunner> CpuHardware::slot(DeviceId device, int index) {
  const auto& teams = binding_.teams[static_cast<size_t>(device.index)];
  return std::make_unique<Team>(teams[static_cast<size_t>(index)]);
}

std::unique_ptr<Copier> CpuHardware::copier(MemoryId /*from*/, MemoryId /*to*/) {
  return std::make_unique<HostCopier>(cores_);
}

std::string CpuHardware::note() const {
  if (binding_.wanted <= binding_.there) return {};
  return fmt::format(
      "the machine's CPUs ask for {} cores, but this process has {}: devices share cores, and run "
      "times are not those of devices that work side by side",
      binding_.wanted, binding_.there);
}

}  // namespace tutti
