#include "tutti/machine/shared_resources.h"

#include <algorithm>
#include <string>

namespace tutti {

bool is_cpu(const Machine& machine, DeviceId device) {
  const Device& item = machine.device(device);
  return item.memory == machine.hosts()[item.host.index].memory;
}

std::vector<int> cores_of_slot(const Device& device, int slot) {
  const int cores = cores_of(device);
  std::vector<int> list;
  if (device.slots >= cores) {
    list.push_back(slot % cores);
  } else {
    for (int core = slot; core < cores; core += device.slots) list.push_back(core);
  }
  return list;
}

SharedResources::SharedResources(const Machine& machine) : machine_(&machine) {
  std::vector<double> bytes_per_s(static_cast<size_t>(machine.memory_count()), 0.0);
  for (const DeviceId id : machine.devices()) {
    const Device& device = machine.device(id);
    double& most = bytes_per_s[device.memory.index];
    most = std::max(most, device.bytes_per_s);
    if (is_cpu(machine, id)) {
      for (int core = 0; core < cores_of(device); ++core) state(core_of(id, core), 1);
    } else {
      state(resource_of(id), 1);
    }
  }
  for (int32_t i = 0; i < machine.memory_count(); ++i) {
    state(resource_of(MemoryId{i}), bytes_per_s[i]);
  }
  for (size_t h = 0; h < machine.hosts().size(); ++h) {
    const HostId host{static_cast<int32_t>(h)};
    state(cache_of(host), machine.hosts()[h].cache_bytes_per_s);
    state(resource_of(host), machine.hosts()[h].root_bytes_per_s);
  }
  std::map<std::string, int32_t> channels;
  for (int32_t i = 0; i < machine.channel_count(); ++i) {
    state(resource_of(ChannelId{i}), machine.channel(ChannelId{i}).bytes_per_s);
    channels.emplace(machine.channel(ChannelId{i}).name, i);
  }
  hosts_of_channel_.resize(static_cast<size_t>(machine.channel_count()));
  for (const auto& link : machine.spec().links) {
    for (size_t h = 0; h < machine.hosts().size(); ++h) {
      const std::string& host = machine.hosts()[h].name;
      if (link.ends[0] != host && link.ends[1] != host) continue;
      for (const char* direction : {">", "<", ""}) {
        const auto found = channels.find(link.name + direction);
        if (found == channels.end()) continue;
        hosts_of_channel_[found->second].push_back(HostId{static_cast<int32_t>(h)});
      }
    }
  }
}

void SharedResources::state(const Resource& resource, double capacity) {
  if (capacity <= 0) return;
  index_.emplace(resource, size());
  list_.push_back({resource, capacity});
}

int32_t SharedResources::find(const Resource& resource) const {
  const auto found = index_.find(resource);
  return found == index_.end() ? -1 : found->second;
}

void SharedResources::add(const Resource& resource, double amount, std::vector<Draw>& draws) const {
  const int32_t index = find(resource);
  if (index < 0 || amount <= 0) return;
  for (Draw& draw : draws) {
    if (draw.resource != index) continue;
    draw.amount += amount;
    return;
  }
  draws.push_back({index, amount});
}

void SharedResources::add_hop(MemoryId from, const Hop& hop, double bytes_per_s,
                              std::vector<Draw>& draws) const {
  add(resource_of(from), bytes_per_s, draws);
  add(resource_of(hop.to), bytes_per_s, draws);
  std::vector<HostId> passed;
  for (const ChannelId channel : hop.channels) {
    add(resource_of(channel), bytes_per_s, draws);
    for (const HostId host : hosts_of_channel_[channel.index]) {
      if (std::find(passed.begin(), passed.end(), host) == passed.end()) passed.push_back(host);
    }
  }
  for (const HostId host : passed) add(resource_of(host), bytes_per_s, draws);
}

void SharedResources::add_stream(MemoryId from, MemoryId to, double bytes_per_s,
                                 std::vector<Draw>& draws) const {
  const Route* route = machine_->route(from, to);
  if (route == nullptr) return;
  for (const Hop& hop : route->hops) {
    add_hop(from, hop, bytes_per_s, draws);
    from = hop.to;
  }
}

}  // namespace tutti
