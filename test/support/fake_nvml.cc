// A library with the functions of NVIDIA's that tutti/telemetry/nvml.cc asks for: one GPU, whose
// counters move by one step whenever they are read. It does not tell its power.

namespace {

constexpr int kSuccess = 0;
constexpr int kNotSupported = 3;
constexpr int kNotFound = 6;

struct Utilization {
  unsigned gpu;
  unsigned memory;
};
struct Memory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

int the_gpu = 0;
unsigned reads = 0;

bool same(const char* a, const char* b) {
  while (*a != '\0' && *a == *b) ++a, ++b;
  return *a == *b;
}

}  // namespace

extern "C" {

int nvmlInit_v2() {
  return kSuccess;
}
int nvmlShutdown() {
  return kSuccess;
}
int nvmlDeviceGetHandleByPciBusId_v2(const char* id, void** device) {
  if (!same(id, "0000:3B:00.0")) return kNotFound;
  *device = &the_gpu;
  return kSuccess;
}
int nvmlDeviceGetUtilizationRates(void* /*device*/, Utilization* rates) {
  *rates = {.gpu = 40 + 10 * (reads++ % 2), .memory = 25};
  return kSuccess;
}
int nvmlDeviceGetMemoryInfo(void* /*device*/, Memory* memory) {
  *memory = {.total = 1000, .free = 600, .used = 400};
  return kSuccess;
}
int nvmlDeviceGetPcieThroughput(void* /*device*/, int counter, unsigned* kilobytes) {
  *kilobytes = counter == 0 ? 1000 : 2000;  // sent, received
  return kSuccess;
}
int nvmlDeviceGetPowerUsage(void* /*device*/, unsigned* /*milliwatts*/) {
  return kNotSupported;
}
int nvmlDeviceGetTemperature(void* /*device*/, int /*sensor*/, unsigned* degrees) {
  *degrees = 50;
  return kSuccess;
}
int nvmlDeviceGetClockInfo(void* /*device*/, int /*type*/, unsigned* megahertz) {
  *megahertz = 1500;
  return kSuccess;
}

}  // extern "C"
