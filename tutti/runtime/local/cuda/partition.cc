#include "tutti/runtime/local/cuda/partition.h"

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "tutti/kernels/cuda/error.h"

namespace tutti {

// The functions of the driver that the CUDA runtime has no names for. They are asked of the
// runtime, so that nothing is linked.
struct Partition::Driver {
  decltype(&cuDeviceGet) device = nullptr;
  decltype(&cuDeviceGetDevResource) device_resource = nullptr;
  decltype(&cuDevSmResourceSplitByCount) split = nullptr;
  decltype(&cuDevResourceGenerateDesc) describe = nullptr;
  decltype(&cuGreenCtxCreate) create = nullptr;
  decltype(&cuGreenCtxDestroy) destroy = nullptr;
  decltype(&cuGreenCtxGetDevResource) resource = nullptr;
  decltype(&cuGreenCtxStreamCreate) create_stream = nullptr;
  decltype(&cuCtxFromGreenCtx) context = nullptr;
  decltype(&cuCtxPushCurrent) push = nullptr;
  decltype(&cuCtxPopCurrent) pop = nullptr;
  decltype(&cuEventCreate) create_event = nullptr;
  decltype(&cuGetErrorName) error_name = nullptr;

  // Any thread may call it, at any time.
  static Result<const Driver*> open() {
    static const Result<Driver> loaded = load();
    if (!loaded) return loaded.error();
    return &*loaded;
  }

  Result<void> done(CUresult result, const char* doing) const {
    if (result == CUDA_SUCCESS) return {};
    const char* name = nullptr;
    if (error_name(result, &name) != CUDA_SUCCESS || name == nullptr) name = "an unknown error";
    return failed(fmt::format("{}: the CUDA driver says {}", doing, name));
  }

 private:
  // As the header we are built with declares it.
  template <class Function>
  static bool find(const char* name, Function& function) {
    void* address = nullptr;
    cudaDriverEntryPointQueryResult state{};
    const cudaError_t error =
        cudaGetDriverEntryPointByVersion(name, &address, CUDA_VERSION, cudaEnableDefault, &state);
    function = reinterpret_cast<Function>(address);
    return error == cudaSuccess && state == cudaDriverEntryPointSuccess && address != nullptr;
  }

  static Result<Driver> load() {
    Driver driver;
    if (find("cuDeviceGet", driver.device) &&
        find("cuDeviceGetDevResource", driver.device_resource) &&
        find("cuDevSmResourceSplitByCount", driver.split) &&
        find("cuDevResourceGenerateDesc", driver.describe) &&
        find("cuGreenCtxCreate", driver.create) && find("cuGreenCtxDestroy", driver.destroy) &&
        find("cuGreenCtxGetDevResource", driver.resource) &&
        find("cuGreenCtxStreamCreate", driver.create_stream) &&
        find("cuCtxFromGreenCtx", driver.context) && find("cuCtxPushCurrent", driver.push) &&
        find("cuCtxPopCurrent", driver.pop) && find("cuEventCreate", driver.create_event) &&
        find("cuGetErrorName", driver.error_name)) {
      return driver;
    }
    return failed(fmt::format(
        "GPUs cannot be partitioned: the NVIDIA driver is older than that of CUDA {}.{}",
        CUDA_VERSION / 1000, CUDA_VERSION % 1000 / 10));
  }
};

// Splits one GPU. The rest of a split cannot be split again, so all groups are made at once and
// each partition is given as many as it needs.
class Partition::Splitter {
 public:
  explicit Splitter(const Driver& driver) : driver_(driver) {}

  Result<void> look_at_gpu() {
    int ordinal = 0;
    if (auto got = cuda::done(cudaGetDevice(&ordinal), "no GPU is current"); !got) {
      return got.error();
    }
    // The primary context must be there before a green one.
    if (auto got = cuda::done(cudaFree(nullptr), "the GPU cannot be used"); !got) {
      return got.error();
    }
    constexpr auto kDoing = "the GPU's multiprocessors cannot be counted";
    if (auto got = driver_.done(driver_.device(&gpu_, ordinal), kDoing); !got) return got.error();
    return driver_.done(driver_.device_resource(gpu_, &all_, CU_DEV_RESOURCE_TYPE_SM), kDoing);
  }

  // Groups of the largest size that goes into all counts and of which there are enough.
  Result<void> split_for(std::span<const int> counts) {
    constexpr unsigned kSizes[] = {16, 8, 4, 2};
    const int wanted = std::accumulate(counts.begin(), counts.end(), 0);
    for (const unsigned size : kSizes) {
      unsigned number = 0;
      // Where it cannot be split so, another size may do.
      if (driver_.split(nullptr, &number, &all_, nullptr, 0, size) != CUDA_SUCCESS) continue;
      if (number == 0) continue;
      groups_.assign(number, CUdevResource{});
      if (driver_.split(groups_.data(), &number, &all_, nullptr, 0, size) != CUDA_SUCCESS) continue;
      groups_.resize(number);
      if (number == 0) continue;
      const int got = static_cast<int>(groups_[0].sm.smCount);
      if (most_ < got * static_cast<int>(number)) most_ = got * static_cast<int>(number);
      least_group_ = least_group_ == 0 ? got : std::min(least_group_, got);
      const bool fits =
          std::all_of(counts.begin(), counts.end(), [&](int count) { return count % got == 0; });
      if (fits && wanted <= got * static_cast<int>(number)) return {};
    }
    if (least_group_ == 0) return failed("the GPU cannot be partitioned");
    return invalid_input(
        fmt::format("partitions of {} multiprocessors cannot be had: the GPU has {} and gives out "
                    "{} of them in "
                    "groups of {}",
                    fmt::join(counts, " + "), all_.sm.smCount, most_, least_group_));
  }

  Result<std::shared_ptr<Partition>> make(int count) {
    constexpr auto kDoing = "a partition of the GPU cannot be made";
    const auto number = static_cast<unsigned>(count) / groups_[0].sm.smCount;
    CUdevResourceDesc description = nullptr;
    if (auto done =
            driver_.done(driver_.describe(&description, groups_.data() + next_, number), kDoing);
        !done) {
      return done.error();
    }
    next_ += number;
    CUgreenCtx green = nullptr;
    if (auto done = driver_.done(
            driver_.create(&green, description, gpu_, CU_GREEN_CTX_DEFAULT_STREAM), kDoing);
        !done) {
      return done.error();
    }
    std::shared_ptr<Partition> partition(new Partition(driver_, green, count));
    CUdevResource own{};
    if (auto done = driver_.done(driver_.resource(green, &own, CU_DEV_RESOURCE_TYPE_SM), kDoing);
        !done) {
      return done.error();
    }
    if (own.sm.smCount != static_cast<unsigned>(count)) {
      return failed(
          fmt::format("a partition of {} multiprocessors came out with {}", count, own.sm.smCount));
    }
    return partition;
  }

 private:
  const Driver& driver_;
  CUdevice gpu_ = 0;
  CUdevResource all_{};
  std::vector<CUdevResource> groups_;
  size_t next_ = 0;
  int most_ = 0;
  int least_group_ = 0;
};

Result<std::vector<std::shared_ptr<Partition>>> Partition::split(std::span<const int> counts) {
  const Result<const Driver*> driver = Driver::open();
  if (!driver) return driver.error();
  Splitter splitter(**driver);
  if (auto done = splitter.look_at_gpu(); !done) return done.error();
  if (auto done = splitter.split_for(counts); !done) return done.error();
  std::vector<std::shared_ptr<Partition>> partitions;
  for (const int count : counts) {
    Result<std::shared_ptr<Partition>> partition = splitter.make(count);
    if (!partition) return partition.error();
    partitions.push_back(std::move(*partition));
  }
  return partitions;
}

Partition::~Partition() {
  (void)driver_.destroy(green_);
}

// The event is made in the same context as the stream: one of another could not be recorded there.
Result<CudaStream> Partition::open_stream() {
  constexpr auto kDoing = "a stream of a partition cannot be opened";
  const MutexLock lock(mutex_);
  CUstream stream = nullptr;
  if (auto done = driver_.done(
          driver_.create_stream(&stream, green_, CU_STREAM_NON_BLOCKING, /*priority=*/0), kDoing);
      !done) {
    return done.error();
  }
  CudaStream opened(stream);
  CUcontext context = nullptr;
  if (auto done = driver_.done(driver_.context(&context, green_), kDoing); !done) {
    return done.error();
  }
  if (auto done = driver_.done(driver_.push(context), kDoing); !done) return done.error();
  CUevent event = nullptr;
  const CUresult made =
      driver_.create_event(&event, CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING);
  CUcontext popped = nullptr;
  (void)driver_.pop(&popped);
  if (auto done = driver_.done(made, kDoing); !done) return done.error();
  opened.take_event(event);
  return opened;
}

}  // namespace tutti
