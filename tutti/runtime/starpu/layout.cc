#include "tutti/runtime/starpu/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "tutti/runtime/local/cpu/cores.h"

namespace tutti {
namespace {

// By host: its rank, if names say so.
std::vector<int> pair_by_name(const Machine& machine, const std::vector<std::string>& host_names) {
  std::map<std::string, int> rank_of_name;
  for (size_t i = 0; i < host_names.size(); ++i) {
    if (!rank_of_name.emplace(host_names[i], static_cast<int>(i)).second) return {};
  }
  std::vector<int> ranks;
  for (const Host& host : machine.hosts()) {
    const auto found = rank_of_name.find(host.name);
    if (found == rank_of_name.end()) return {};
    ranks.push_back(found->second);
  }
  return ranks;
}

}  // namespace

Result<Layout> Layout::make(const Machine& machine, const std::vector<std::string>& host_names) {
  for (const DeviceId id : machine.devices()) {
    const Device& device = machine.device(id);
    if (is_cpu(device)) continue;
    return invalid_input(
        fmt::format("device '{}' is of kind '{}', and the runtime starpu has cores alone: Debian's "
                    "StarPU is built without CUDA; use --runtime local on a host with GPUs",
                    device.name, device.kind));
  }
  Layout layout(machine);
  const size_t hosts = machine.hosts().size();
  const size_t ranks = host_names.size();
  if (ranks == 1) {
    layout.rank_of_host_.assign(hosts, 0);
    return layout;
  }
  if (hosts != ranks) {
    return invalid_input(fmt::format(
        "machine '{}' has {} {}, but {} ranks were started; start one rank for each host, or a "
        "single one",
        machine.name(), hosts, hosts == 1 ? "host" : "hosts", ranks));
  }
  layout.rank_of_host_ = pair_by_name(machine, host_names);
  for (size_t i = 0; layout.rank_of_host_.size() < hosts; ++i) {
    layout.rank_of_host_.push_back(static_cast<int>(i));
  }
  return layout;
}

std::vector<DeviceId> Layout::devices_of(int rank) const {
  std::vector<DeviceId> devices;
  for (const DeviceId device : machine_->devices()) {
    if (rank_of(device) == rank) devices.push_back(device);
  }
  return devices;
}

bool Layout::one_memory_each() const {
  std::map<int, MemoryId> memory_of_rank;
  for (const DeviceId device : machine_->devices()) {
    const MemoryId memory = machine_->memory_of(device);
    if (memory_of_rank.emplace(rank_of(device), memory).first->second != memory) return false;
  }
  return true;
}

}  // namespace tutti
