#include <dlfcn.h>
#include <fmt/format.h>

#include <functional>
#include <limits>
#include <optional>
#include <utility>

#include "tutti/telemetry/available.h"
#include "tutti/telemetry/nvml_interface.h"

namespace tutti {
namespace {

// The library, initialised and, after its last use, shut down. Never unloaded: the driver keeps
// threads of its own.
class Nvml {
 public:
  Nvml() = default;
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;
  ~Nvml() {
    if (started_) shutdown_();
  }

  Result<void> load(const std::string& path) {
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return failed("there is no " + path);
    NvmlResult (*init)() = nullptr;
    const bool complete = find(library, "nvmlInit_v2", init) &&
                          find(library, "nvmlShutdown", shutdown_) &&
                          find(library, "nvmlDeviceGetHandleByPciBusId_v2", by_pci_id) &&
                          find(library, "nvmlDeviceGetUtilizationRates", utilization) &&
                          find(library, "nvmlDeviceGetMemoryInfo", memory) &&
                          find(library, "nvmlDeviceGetPcieThroughput", pcie) &&
                          find(library, "nvmlDeviceGetPowerUsage", power) &&
                          find(library, "nvmlDeviceGetTemperature", temperature) &&
                          find(library, "nvmlDeviceGetClockInfo", clock);
    if (!complete) return failed(path + " lacks a function we need");
    if (const NvmlResult code = init(); code != kNvmlSuccess) {
      return failed(fmt::format("{} did not start (code {}): is the driver loaded?", path, code));
    }
    started_ = true;
    return {};
  }

  NvmlResult (*by_pci_id)(const char*, NvmlDevice*) = nullptr;
  NvmlResult (*utilization)(NvmlDevice, NvmlUtilization*) = nullptr;
  NvmlResult (*memory)(NvmlDevice, NvmlMemory*) = nullptr;
  NvmlResult (*pcie)(NvmlDevice, int, unsigned*) = nullptr;
  NvmlResult (*power)(NvmlDevice, unsigned*) = nullptr;
  NvmlResult (*temperature)(NvmlDevice, int, unsigned*) = nullptr;
  NvmlResult (*clock)(NvmlDevice, int, unsigned*) = nullptr;

 private:
  template <class Function>
  static bool find(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    return function != nullptr;
  }

  NvmlResult (*shutdown_)() = nullptr;
  bool started_ = false;
};

// The narrowest channel between a device and its host: where all that it sends or is sent passes.
std::optional<Resource> narrowest_channel(const Machine& machine, const std::string& device,
                                          bool towards_device) {
  const DeviceId id = *machine.find_device(device);
  const MemoryId own = machine.memory_of(id);
  const MemoryId host = machine.hosts()[static_cast<size_t>(machine.device(id).host.index)].memory;
  const Route* route = towards_device ? machine.route(host, own) : machine.route(own, host);
  if (route == nullptr) return std::nullopt;
  std::optional<Resource> narrowest;
  double least = std::numeric_limits<double>::infinity();
  for (const Hop& hop : route->hops) {
    for (const ChannelId channel : hop.channels) {
      const double bytes_per_s = machine.channel(channel).bytes_per_s;
      if (bytes_per_s <= 0 || bytes_per_s >= least) continue;
      least = bytes_per_s;
      narrowest = resource_of(channel);
    }
  }
  return narrowest;
}

// The link between a device and whatever is nearest to it, in one direction; where that is never
// the bottleneck, the narrowest on the way to the host.
std::optional<Resource> channel_at(const Machine& machine, const std::string& device,
                                   bool towards_device) {
  for (const auto& link : machine.spec().links) {
    const int end = link.ends[0] == device ? 0 : link.ends[1] == device ? 1 : -1;
    if (end < 0 || machine.find_device(link.ends[1 - end])) continue;  // NVLink is no PCIe
    if (link.bytes_per_s <= 0) return narrowest_channel(machine, device, towards_device);
    const bool forward = (end == 1) == towards_device;
    const std::string name = link.full_duplex ? link.name + (forward ? ">" : "<") : link.name;
    for (int32_t i = 0; i < machine.channel_count(); ++i) {
      if (machine.channel(ChannelId{i}).name == name) return resource_of(ChannelId{i});
    }
  }
  return std::nullopt;
}

class NvmlSource final : public CounterSource {
 public:
  explicit NvmlSource(std::unique_ptr<Nvml> nvml) : nvml_(std::move(nvml)) {}

  bool add_gpu(const Machine& machine, DeviceId id, const std::string& pci_id) {
    NvmlDevice gpu = nullptr;
    if (nvml_->by_pci_id(pci_id.c_str(), &gpu) != kNvmlSuccess) return false;
    const std::string& name = machine.device(id).name;
    const Resource device = resource_of(id);
    const Resource memory = resource_of(machine.memory_of(id));
    // What the whole GPU does is no partition's own.
    const bool whole = machine.device(id).units == 0;
    add({name + ".busy", "share", device, whole ? Quantity::busy : Quantity::other},
        [this, gpu] { return utilization(gpu, &NvmlUtilization::gpu); });
    add({name + ".memory.busy", "share", memory, whole ? Quantity::busy : Quantity::other},
        [this, gpu] { return utilization(gpu, &NvmlUtilization::memory); });
    add({name + ".memory.free", "B", memory}, [this, gpu] { return free_bytes(gpu); });
    const auto add_traffic = [&](const char* what, int counter, bool towards_device) {
      const auto channel = channel_at(machine, name, towards_device);
      add({fmt::format("{}.{}", name, what), "B/s", channel.value_or(device),
           channel ? Quantity::traffic : Quantity::other},
          [this, gpu, counter] { return number(nvml_->pcie, 1000, gpu, counter); });
    };
    add_traffic("received", kReceivedByGpu, /*towards_device=*/true);
    add_traffic("sent", kSentByGpu, /*towards_device=*/false);
    add({name + ".power", "W", device}, [this, gpu] { return number(nvml_->power, 1e-3, gpu); });
    add({name + ".temperature", "C", device},
        [this, gpu] { return number(nvml_->temperature, 1, gpu, kGpuSensor); });
    add({name + ".clock", "Hz", device},
        [this, gpu] { return number(nvml_->clock, 1e6, gpu, kSmClock); });
    return true;
  }

  std::span<const Counter> counters() const override { return counters_; }
  void read(std::span<double> values) override {
    for (size_t i = 0; i < looks_.size(); ++i)
      values[i] = looks_[i]().value_or(std::numeric_limits<double>::quiet_NaN());
  }

 private:
  using Look = std::function<std::optional<double>()>;

  // What a GPU does not tell (many that are virtual or cut up do not) is not listed.
  void add(Counter counter, Look look) {
    if (!look()) return;
    counters_.push_back(std::move(counter));
    looks_.push_back(std::move(look));
  }

  std::optional<double> utilization(NvmlDevice gpu, unsigned NvmlUtilization::*which) const {
    NvmlUtilization rates{};
    if (nvml_->utilization(gpu, &rates) != kNvmlSuccess) return std::nullopt;
    return rates.*which / 100.0;
  }
  std::optional<double> free_bytes(NvmlDevice gpu) const {
    NvmlMemory memory{};
    if (nvml_->memory(gpu, &memory) != kNvmlSuccess) return std::nullopt;
    return static_cast<double>(memory.free);
  }
  template <class Function, class... Which>
  static std::optional<double> number(Function function, double unit, NvmlDevice gpu,
                                      Which... which) {
    unsigned value = 0;
    if (function(gpu, which..., &value) != kNvmlSuccess) return std::nullopt;
    return unit * value;
  }

  std::unique_ptr<Nvml> nvml_;
  std::vector<Counter> counters_;
  std::vector<Look> looks_;
};

}  // namespace

Result<std::unique_ptr<CounterSource>> make_nvml_source(const Machine& machine,
                                                        const std::vector<std::string>& pci_ids,
                                                        const std::string& library) {
  auto nvml = std::make_unique<Nvml>();
  if (const auto loaded = nvml->load(library); !loaded) return loaded.error();
  auto source = std::make_unique<NvmlSource>(std::move(nvml));
  size_t next = 0;
  int found = 0;
  bool partitioned = false;
  for (const DeviceId id : machine.devices()) {
    const Device& device = machine.device(id);
    if (device.kind.substr(0, device.kind.find('-')) != "gpu") continue;
    // Of the partitions of the first GPU the first stands for all.
    if (device.units > 0 && std::exchange(partitioned, true)) continue;
    if (next == pci_ids.size()) break;
    if (source->add_gpu(machine, id, pci_ids[next++])) ++found;
  }
  if (found == 0) return failed("the driver knows none of the machine's GPUs");
  return std::unique_ptr<CounterSource>(std::move(source));
}

}  // namespace tutti
