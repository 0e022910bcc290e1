// A library with the functions of NVIDIA's that tutti/telemetry/nvml.cc asks for: one GPU, whose
// counters move by one step whenever they are read. It does not tell its power.

#include "tutti/telemetry/nvml_interface.h"

namespace {

using tutti::kNvmlSuccess;
using tutti::NvmlDevice;
using tutti::NvmlMemory;
using tutti::NvmlResult;
using tutti::NvmlUtilization;

constexpr int kNotSupported = 3;
constexpr int kNotFound = 6;

int the_gpu = 0;
unsigned reads = 0;

bool same(const char* a, const char* b) {
  while (*a != '\0' && *a == *b) ++a, ++b;
  return *a == *b;
}

}  // namespace

extern "C" {

NvmlResult nvmlInit_v2() {
  return kNvmlSuccess;
}
NvmlResult nvmlShutdown() {
  return kNvmlSuccess;
}
NvmlResult nvmlDeviceGetHandleByPciBusId_v2(const char* id, NvmlDevice* device) {
  if (!same(id, "0000:3B:00.0")) return kNotFound;
  *device = reinterpret_cast<NvmlDevice>(&the_gpu);
  return kNvmlSuccess;
}
NvmlResult nvmlDeviceGetUtilizationRates(NvmlDevice /*device*/, NvmlUtilization* rates) {
  *rates = {.gpu = 40 + 10 * (reads++ % 2), .memory = 25};
  return kNvmlSuccess;
}
NvmlResult nvmlDeviceGetMemoryInfo(NvmlDevice /*device*/, NvmlMemory* memory) {
  *memory = {.total = 1000, .free = 600, .used = 400};
  return kNvmlSuccess;
}
NvmlResult nvmlDeviceGetPcieThroughput(NvmlDevice /*device*/, int counter, unsigned* kilobytes) {
  *kilobytes = counter == 0 ? 1000 : 2000;  // sent, received
  return kNvmlSuccess;
}
NvmlResult nvmlDeviceGetPowerUsage(NvmlDevice /*device*/, unsigned* /*milliwatts*/) {
  return kNotSupported;
}
NvmlResult nvmlDeviceGetTemperature(NvmlDevice /*device*/, int /*sensor*/, unsigned* degrees) {
  *degrees = 50;
  return kNvmlSuccess;
}
NvmlResult nvmlDeviceGetClockInfo(NvmlDevice /*device*/, int /*type*/, unsigned* megahertz) {
  *megahertz = 1500;
  return kNvmlSuccess;
}

}  // extern "C"
