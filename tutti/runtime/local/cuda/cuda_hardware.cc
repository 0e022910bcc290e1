#include "tutti/runtime/local/cuda/cuda_hardware.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "tutti/kernels/cuda/error.h"
#include "tutti/kernels/cuda/lane.h"
#include "tutti/runtime/local/cuda/copiers.h"
#include "tutti/runtime/local/cuda/current.h"

namespace tutti {
namespace {

// A lane of its own: ops of other slots of the device run at the same time.
class CudaSlot : public SlotRunner {
 public:
  CudaSlot(int gpu, std::shared_ptr<Partition> partition)
      : gpu_(gpu), partition_(std::move(partition)) {}
  ~CudaSlot() override {
    const CurrentGpu current(gpu_);
    lane_.reset();
  }

  Result<void> enter() override {
    if (auto set = cuda::done(cudaSetDevice(gpu_), "the GPU cannot be used"); !set) {
      return set.error();
    }
    Result<CudaStream> stream = partition_ ? partition_->open_stream() : CudaStream::open();
    if (!stream) return stream.error();
    Result<std::unique_ptr<CudaLane>> lane =
        CudaLane::open(std::move(*stream), partition_ ? partition_->multiprocessors() : 0);
    if (!lane) return lane.error();
    lane_ = std::move(*lane);
    // So that the first product need not wait for it; without cuBLAS, products will say so.
    (void)lane_->blas();
    return {};
  }

  Result<void> run(const OpTable::Entry& entry, OpCall& call) override {
    call.lane = lane_.get();
    // What an op has put in before it failed must not run on when its values are given back.
    const Result<void> put_in = entry.code(call);
    const Result<void> ended = lane_->stream().wait();
    return put_in ? ended : put_in;
  }

 private:
  int gpu_;
  std::shared_ptr<Partition> partition_;
  std::unique_ptr<CudaLane> lane_;
};

// An error that loses a GPU stays with the process until the GPU is reset, which takes all that was
// on it: nothing of it could be used any more.
Result<void> wake(int gpu) {
  const CurrentGpu current(gpu);
  if (cudaDeviceSynchronize() == cudaSuccess) return {};
  (void)cudaGetLastError();
  (void)cudaDeviceReset();
  (void)cudaGetLastError();
  return cuda::done(cudaDeviceSynchronize(),
                    fmt::format("GPU {} is lost to this process; start the program again", gpu));
}

}  // namespace

Result<std::unique_ptr<Hardware>> with_gpus(const Machine& machine,
                                            std::unique_ptr<Hardware> others, GpuOptions options) {
  Result<std::unique_ptr<CudaHardware>> opened =
      CudaHardware::open(machine, std::move(others), options);
  if (!opened) return opened.error();
  return std::unique_ptr<Hardware>(std::move(*opened));
}

Result<std::unique_ptr<CudaHardware>> CudaHardware::open(const Machine& machine,
                                                         std::unique_ptr<Hardware> others,
                                                         GpuOptions options) {
  std::unique_ptr<CudaHardware> hardware(new CudaHardware(machine, std::move(others), options));
  if (auto bound = hardware->bind_devices(); !bound) return bound.error();
  if (auto opened = hardware->open_stores(); !opened) return opened.error();
  return hardware;
}

CudaHardware::CudaHardware(const Machine& machine, std::unique_ptr<Hardware> others,
                           GpuOptions options)
    : machine_(machine),
      others_(std::move(others)),
      options_(options),
      by_device_(static_cast<size_t>(machine.size())),
      by_memory_(static_cast<size_t>(machine.memory_count())) {}

Result<void> CudaHardware::bind_devices() {
  std::vector<DeviceId> whole;
  std::vector<DeviceId> partitioned;
  for (const DeviceId id : machine_.devices()) {
    const Device& device = machine_.device(id);
    if (!is_gpu(device)) continue;
    if (device.memory == machine_.hosts()[static_cast<size_t>(device.host.index)].memory) {
      return invalid_input(fmt::format(
          "device '{}' is a GPU and cannot use its host's memory; leave out uses_host_memory",
          device.name));
    }
    (device.units == 0 ? whole : partitioned).push_back(id);
  }
  if (whole.empty() && partitioned.empty()) return {};
  if (auto found = cuda::check_gpus(); !found) {
    return invalid_input(fmt::format(
        "device '{}' is a GPU, but {}; name a machine without GPUs, or run it where nvidia-smi "
        "shows one",
        machine_.device((whole.empty() ? partitioned : whole).front()).name,
        found.error().message));
  }
  int count = 0;
  if (auto got = cuda::done(cudaGetDeviceCount(&count), "GPUs cannot be counted"); !got) {
    return got.error();
  }
  int next = partitioned.empty() ? 0 : 1;
  if (static_cast<int>(whole.size()) > count - next) {
    return invalid_input(
        fmt::format("the machine has {} whole GPUs{}, but the NVIDIA driver shows {} here",
                    whole.size(), partitioned.empty() ? "" : " and a partitioned one", count));
  }
  if (auto bound = bind_partitions(partitioned); !bound) return bound.error();
  for (const DeviceId id : whole) {
    if (auto awake = wake(next); !awake) return awake.error();
    by_device_[static_cast<size_t>(id.index)] = Gpu{next++};
  }
  return {};
}

Result<void> CudaHardware::bind_partitions(std::span<const DeviceId> devices) {
  if (devices.empty()) return {};
  if (auto awake = wake(0); !awake) return awake.error();
  const CurrentGpu current(0);
  size_t free_bytes = 0;
  size_t all_bytes = 0;
  if (auto got = cuda::done(cudaMemGetInfo(&free_bytes, &all_bytes), "GPU 0 cannot be used");
      !got) {
    return got.error();
  }
  std::vector<int> counts;
  int64_t bytes = 0;
  for (const DeviceId id : devices) {
    counts.push_back(machine_.device(id).units);
    const int64_t own = machine_.memory(machine_.memory_of(id)).capacity_bytes;
    if (own != kUnlimitedBytes) bytes += own;
  }
  if (bytes > static_cast<int64_t>(all_bytes)) {
    return invalid_input(fmt::format(
        "the partitions of GPU 0 have {} bytes of memory in all, but it has {}", bytes, all_bytes));
  }
  Result<std::vector<std::shared_ptr<Partition>>> partitions = Partition::split(counts);
  if (!partitions) return partitions.error();
  for (size_t i = 0; i < devices.size(); ++i) {
    by_device_[static_cast<size_t>(devices[i].index)] = Gpu{0, std::move((*partitions)[i])};
  }
  return {};
}

Result<void> CudaHardware::open_stores() {
  for (const DeviceId id : machine_.devices()) {
    const auto& gpu = by_device_[static_cast<size_t>(id.index)];
    if (gpu) by_memory_[static_cast<size_t>(machine_.memory_of(id).index)] = gpu;
  }
  for (int32_t i = 0; i < machine_.memory_count(); ++i) {
    const int64_t capacity = machine_.memory(MemoryId{i}).capacity_bytes;
    if (const auto& gpu = gpu_of(MemoryId{i})) {
      Result<std::unique_ptr<GpuStore>> opened = GpuStore::open(gpu->ordinal, capacity);
      if (!opened) return opened.error();
      stores_.push_back(std::move(*opened));
    } else {
      stores_.push_back(std::make_unique<PinnedStore>(capacity));
    }
  }
  return {};
}

Store& CudaHardware::store(MemoryId memory) {
  return *stores_[static_cast<size_t>(memory.index)];
}

std::unique_ptr<SlotRunner> CudaHardware::slot(DeviceId device, int index) {
  const auto& gpu = by_device_[static_cast<size_t>(device.index)];
  if (!gpu) return others_->slot(device, index);
  return std::make_unique<CudaSlot>(gpu->ordinal, gpu->partition);
}

std::unique_ptr<Copier> CudaHardware::copier(MemoryId from, MemoryId to) {
  const auto& source = gpu_of(from);
  const auto& target = gpu_of(to);
  if (!source && !target) return others_->copier(from, to);
  if (!source || !target) return direct_copier(source ? source->ordinal : target->ordinal);
  if (options_.between == GpuOptions::Between::through_host) {
    return staged_copier(source->ordinal, target->ordinal);
  }
  return direct_copier(source->ordinal);
}

std::string CudaHardware::note() const {
  return others_->note();
}

}  // namespace tutti
