// The few names of NVIDIA's nvml.h that tutti uses, with the values and layouts of its binary
// interface. tutti/telemetry/nvml.cc calls these functions through pointers; the library that
// stands for the driver in tests (test/support/fake_nvml.cc) defines them. Both must use these
// types: a function may be called only through a pointer of its own type.

#ifndef TUTTI_TELEMETRY_NVML_INTERFACE_H_
#define TUTTI_TELEMETRY_NVML_INTERFACE_H_

namespace tutti {

using NvmlResult = int;
using NvmlDevice = struct NvmlDeviceTag*;
inline constexpr NvmlResult kNvmlSuccess = 0;
inline constexpr int kSentByGpu = 0;      // NVML_PCIE_UTIL_TX_BYTES
inline constexpr int kReceivedByGpu = 1;  // NVML_PCIE_UTIL_RX_BYTES
inline constexpr int kGpuSensor = 0;      // NVML_TEMPERATURE_GPU
inline constexpr int kSmClock = 1;        // NVML_CLOCK_SM
struct NvmlUtilization {
  unsigned gpu;     // per cent of the time in which a kernel ran
  unsigned memory;  // per cent of the time in which memory was read or written
};
struct NvmlMemory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

}  // namespace tutti

#endif  // TUTTI_TELEMETRY_NVML_INTERFACE_H_
