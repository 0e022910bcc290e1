#include "tutti/machine/discover.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <numeric>

#include "tutti/machine/facts.h"

namespace tutti {
namespace {

// Two 256-bit units of eight floats: 16 flop per cycle without multiply-add, a cautious middle
// between what old and new cores reach.
constexpr double kFlopsPerCycle = 16;
// What one core can draw from memory, and what a node's memory gives at most.
constexpr double kBytesPerSecondOfCore = 10e9;
constexpr double kBytesPerSecondOfNode = 100e9;
constexpr std::chrono::microseconds kTransferLatency{10};
constexpr std::chrono::microseconds kCopyLatency{1};
constexpr std::chrono::microseconds kGpuLaunchOverhead{10};
constexpr std::chrono::microseconds kCpuLaunchOverhead{1};

int64_t physical_memory_bytes() {
  const int64_t pages = sysconf(_SC_PHYS_PAGES);
  const int64_t page_bytes = sysconf(_SC_PAGE_SIZE);
  return pages > 0 && page_bytes > 0 ? pages * page_bytes : kUnlimitedBytes;
}

}  // namespace

MachineSpec describe_host(const HostFacts& facts) {
  MachineSpec spec{.name = "this-host",
                   .hosts = {{.name = "host", .memory_bytes = facts.memory_bytes}}};
  const size_t nodes = facts.cores_by_numa_node.size();
  for (size_t node = 0; node < nodes; ++node) {
    const int cores = facts.cores_by_numa_node[node];
    spec.devices.push_back(
        {.device = {.name = nodes == 1 ? "cpu" : fmt::format("cpu{}", node),
                    .kind = "cpu",
                    .units = cores,
                    .flops_per_s = cores * facts.hertz * kFlopsPerCycle,
                    .bytes_per_s = std::min(cores * kBytesPerSecondOfCore, kBytesPerSecondOfNode),
                    .launch_overhead = kCpuLaunchOverhead},
         .uses_host_memory = true});
  }
  for (size_t i = 0; i < facts.gpus.size(); ++i) {
    const GpuFacts& gpu = facts.gpus[i];
    const std::string name = fmt::format("gpu{}", i);
    spec.devices.push_back(
        {.device = {.name = name,
                    .kind = "gpu",
                    .flops_per_s = gpu.flops_per_s,
                    .bytes_per_s = gpu.bytes_per_s,
                    .launch_overhead = kGpuLaunchOverhead},
         .memory_bytes = gpu.memory_bytes > 0 ? gpu.memory_bytes : kUnlimitedBytes,
         .copy_engines = gpu.copy_engines});
    spec.links.push_back({.name = name + "-pcie",
                          .ends = {"host", name},
                          .latency = kTransferLatency,
                          .bytes_per_s = gpu.link_bytes_per_s});
  }
  return spec;
}

MachineSpec describe_command_host(const HostFacts& facts) {
  HostFacts cores = facts;
  cores.gpus.clear();
  MachineSpec spec = describe_host(cores);
  for (MachineSpec::DeviceSpec& cpu : spec.devices) {
    cpu.device.slots = cpu.device.units;
    cpu.device.flops_per_s /= cpu.device.slots;  // rates are those of one op
    cpu.device.bytes_per_s /= cpu.device.slots;
  }
  return spec;
}

MachineSpec describe_groups(const HostFacts& facts, int devices, int cores) {
  MachineSpec spec{.name = fmt::format("this-host:{}x{}", devices, cores),
                   .hosts = {{.name = "host", .memory_bytes = facts.memory_bytes}},
                   .switches = {{.name = "memory",
                                 .bytes_per_s = std::min(devices * kBytesPerSecondOfCore,
                                                         kBytesPerSecondOfNode) /
                                                2}}};  // a copy reads and writes
  spec.links.push_back({.name = "host-memory", .ends = {"host", "memory"}});
  for (int i = 0; i < devices; ++i) {
    const std::string name = fmt::format("cpu{}", i);
    spec.devices.push_back(
        {.device = {.name = name,
                    .kind = "cpu",
                    .units = cores,
                    .flops_per_s = cores * facts.hertz * kFlopsPerCycle,
                    .bytes_per_s = std::min(cores * kBytesPerSecondOfCore, kBytesPerSecondOfNode),
                    .launch_overhead = kCpuLaunchOverhead},
         .memory_bytes = std::max<int64_t>(1, facts.memory_bytes / (devices + 1))});
    spec.links.push_back({.name = name + "-memory",
                          .ends = {name, "memory"},
                          .latency = kCopyLatency,
                          .bytes_per_s = kBytesPerSecondOfCore / 2});
  }
  return spec;
}

namespace {

HostFacts this_host() {
  const std::string root;
  return {.cores_by_numa_node = cores_by_numa_node(),
          .hertz = nominal_hertz(root),
          .memory_bytes = std::min(physical_memory_bytes(), cgroup_memory_limit(root)),
          .gpus = cuda_gpus(root)};
}

}  // namespace

Result<Machine> discover_machine() {
  return Machine::build(describe_host(this_host()));
}

Result<Machine> discover_command_machine() {
  return Machine::build(describe_command_host(this_host()));
}

Result<Machine> discover_groups(int devices, int cores) {
  const HostFacts facts = this_host();
  const int there =
      std::accumulate(facts.cores_by_numa_node.begin(), facts.cores_by_numa_node.end(), 0);
  if (devices * cores > there) {
    return invalid_input(
        fmt::format("this-host:{}x{} takes {} cores, and this host has {}; ask for fewer", devices,
                    cores, devices * cores, there));
  }
  return Machine::build(describe_groups(facts, devices, cores));
}

}  // namespace tutti
