// Facts about the host this process runs on, and the machine they describe. discover_machine
// (discover.h) uses them, and so does telemetry to find its counters.
//
// Everything here is the same in every run on the same host, so that a plan made for it still fits:
// no current clock rate and no free memory.

#ifndef TUTTI_MACHINE_FACTS_H_
#define TUTTI_MACHINE_FACTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tutti/machine/machine.h"

namespace tutti {

struct GpuFacts {
  std::string name{};    // as its maker calls it
  std::string pci_id{};  // "0000:3B:00.0"; empty if unknown
  int64_t memory_bytes = 0;
  double flops_per_s = 0;
  double bytes_per_s = 0;
  double link_bytes_per_s = 0;  // to the host, each way
  int copy_engines = 0;
};

struct HostFacts {
  std::vector<int> cores_by_numa_node{};  // that this process may use; nodes without any left out
  double hertz = 0;
  int64_t memory_bytes = 0;
  std::vector<GpuFacts> gpus{};
};

// At least one entry. With hwloc physical cores by NUMA node; without it one node with all the
// logical cores of the affinity mask.
std::vector<int> cores_by_numa_node();

// The least memory limit of the cgroups (v1 and v2) that this process is in, or kUnlimitedBytes.
// `root` stands before "/proc" and "/sys".
int64_t cgroup_memory_limit(const std::string& root);

// The nominal clock of the cores: what sysfs or the model's name says, else 2.5 GHz.
double nominal_hertz(const std::string& root);

// What a PCI device's link carries each way: eight tenths of its nominal rate, which is what long
// copies reach, or 12 GB/s if sysfs does not say. `id` is like "0000:3b:00.0".
double pci_bytes_per_s(const std::string& root, const std::string& id);

// The GPUs that the CUDA driver shows us, in its order: it honours CUDA_VISIBLE_DEVICES. None where
// there is no driver.
std::vector<GpuFacts> cuda_gpus(const std::string& root);

// One CPU device for each NUMA node, all on the host's memory, and one device for each GPU, linked
// to the host.
MachineSpec describe_host(const HostFacts& facts);

// The same without GPUs, each CPU device with a slot for each of its cores: for commands, which are
// programs of one process each and take a core.
MachineSpec describe_command_host(const HostFacts& facts);

// The cores alone, as so many equal devices of so many cores, each with its share of the memory for
// its own. What goes from one to another is a copy, and copies share what the memory gives.
MachineSpec describe_groups(const HostFacts& facts, int devices, int cores);

}  // namespace tutti

#endif  // TUTTI_MACHINE_FACTS_H_
