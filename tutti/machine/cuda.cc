// GPUs by the CUDA driver, loaded when asked for: the same program starts where there is none.

#include <dlfcn.h>

#include <algorithm>

#include "tutti/machine/facts.h"

namespace tutti {
namespace {

// The few names of cuda.h that we use, with the values of its binary interface.
using CudaResult = int;
using CudaDevice = int;
constexpr CudaResult kSuccess = 0;
enum Attribute : int {
  kClockKilohertz = 13,
  kMultiprocessors = 16,
  kMemoryClockKilohertz = 36,
  kMemoryBusBits = 37,
  kCopyEngines = 40,
  kCapabilityMajor = 75,
  kCapabilityMinor = 76,
};

class Driver {
 public:
  // False if there is no driver, or no GPU that it would show us.
  bool load() {
    // Never closed: the driver keeps threads of its own.
    void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return false;
    CudaResult (*init)(unsigned) = nullptr;
    return find(library, "cuInit", init) && find(library, "cuDeviceGetCount", count_) &&
           find(library, "cuDeviceGet", get_) && find(library, "cuDeviceGetName", name_) &&
           find(library, "cuDeviceTotalMem_v2", total_memory_) &&
           find(library, "cuDeviceGetAttribute", attribute_) &&
           find(library, "cuDeviceGetPCIBusId", pci_id_) && init(0) == kSuccess;
  }

  std::vector<CudaDevice> devices() const {
    int count = 0;
    if (count_(&count) != kSuccess) return {};
    std::vector<CudaDevice> devices;
    for (int ordinal = 0; ordinal < count; ++ordinal) {
      CudaDevice device = 0;
      if (get_(&device, ordinal) == kSuccess) devices.push_back(device);
    }
    return devices;
  }

  // 0 where the driver does not tell.
  double attribute(Attribute which, CudaDevice device) const {
    int value = 0;
    return attribute_(&value, which, device) == kSuccess ? std::max(0, value) : 0;
  }
  std::string name(CudaDevice device) const { return text(name_, device); }
  std::string pci_id(CudaDevice device) const { return text(pci_id_, device); }
  int64_t memory_bytes(CudaDevice device) const {
    size_t bytes = 0;
    return total_memory_(&bytes, device) == kSuccess ? static_cast<int64_t>(bytes) : 0;
  }

 private:
  using TextOf = CudaResult (*)(char*, int, CudaDevice);

  template <class Function>
  static bool find(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    return function != nullptr;
  }
  static std::string text(TextOf function, CudaDevice device) {
    char buffer[256] = {};
    return function(buffer, sizeof buffer - 1, device) == kSuccess ? buffer : "";
  }

  CudaResult (*count_)(int*) = nullptr;
  CudaResult (*get_)(CudaDevice*, int) = nullptr;
  TextOf name_ = nullptr;
  TextOf pci_id_ = nullptr;
  CudaResult (*total_memory_)(size_t*, CudaDevice) = nullptr;
  CudaResult (*attribute_)(int*, int, CudaDevice) = nullptr;
};

// 32-bit multiply-adds that one multiprocessor starts per clock, from the throughput table of the
// CUDA programming guide.
double lanes_per_multiprocessor(double major, double minor) {
  const bool sixty_four = major == 7 || (major == 6 && minor == 0) || (major == 8 && minor == 0);
  return sixty_four ? 64 : 128;
}

GpuFacts facts_of(const Driver& driver, CudaDevice device, const std::string& root) {
  const double lanes = lanes_per_multiprocessor(driver.attribute(kCapabilityMajor, device),
                                                driver.attribute(kCapabilityMinor, device));
  const double engines = driver.attribute(kCopyEngines, device);
  return {.name = driver.name(device),
          .pci_id = driver.pci_id(device),
          .memory_bytes = driver.memory_bytes(device),
          .flops_per_s = driver.attribute(kMultiprocessors, device) * lanes * 2 *
                         driver.attribute(kClockKilohertz, device) * 1e3,
          // Both edges of the clock carry data.
          .bytes_per_s = 2 * driver.attribute(kMemoryClockKilohertz, device) * 1e3 *
                         driver.attribute(kMemoryBusBits, device) / 8,
          .link_bytes_per_s = pci_bytes_per_s(root, driver.pci_id(device)),
          // With more than two engines the link is what a transfer waits for.
          .copy_engines = engines <= 2 ? static_cast<int>(engines) : 0};
}

}  // namespace

std::vector<GpuFacts> cuda_gpus(const std::string& root) {
  Driver driver;
  if (!driver.load()) return {};
  std::vector<GpuFacts> gpus;
  for (const CudaDevice device : driver.devices()) gpus.push_back(facts_of(driver, device, root));
  return gpus;
}

}  // namespace tutti
