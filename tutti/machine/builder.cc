#include "tutti/machine/builder.h"

#include <fmt/format.h>

#include <algorithm>

#include "tutti/machine/spec.h"

namespace tutti {

Result<Machine> MachineBuilder::build() {
  if (auto done = complete_spec(machine_.spec_); !done) return done.error();
  machine_.fingerprint_ = spec_fingerprint(spec());
  if (auto done = add_hosts_and_devices(); !done) return done.error();
  add_switches();
  if (auto done = add_links(); !done) return done.error();
  if (auto done = find_routes(); !done) return done.error();
  if (auto done = take_written_routes(); !done) return done.error();
  if (auto done = check_connected(); !done) return done.error();
  return std::move(machine_);
}

Result<void> MachineBuilder::add_hosts_and_devices() {
  for (const auto& host : spec().hosts) {
    const HostId id{static_cast<int32_t>(machine_.hosts_.size())};
    const MemoryId memory = add_memory(host.name, id, host.memory_bytes, /*passable=*/true);
    machine_.hosts_.push_back({.name = host.name,
                               .memory = memory,
                               .root_bytes_per_s = host.root_bytes_per_s,
                               .cache_bytes_per_s = host.cache_bytes_per_s});
  }
  for (const auto& item : spec().devices) {
    Device device = item.device;
    const auto& hosts = machine_.hosts_;
    const auto host = std::find_if(hosts.begin(), hosts.end(),
                                   [&](const Host& h) { return h.name == item.host; });
    if (host == hosts.end()) {
      return spec_error(spec(), item.line,
                        fmt::format("device '{}' is on host '{}', which the machine does not have",
                                    device.name, item.host));
    }
    device.host = HostId{static_cast<int32_t>(host - hosts.begin())};
    if (item.uses_host_memory) {
      device.memory = host->memory;
      place_by_name_[device.name] = host->memory.index;
    } else {
      device.memory = add_memory(device.name, device.host, item.memory_bytes, /*passable=*/false);
      add_copy_engines(item);
    }
    machine_.devices_.push_back(std::move(device));
  }
  return find_proxies();
}

Result<void> MachineBuilder::find_proxies() {
  for (size_t i = 0; i < spec().devices.size(); ++i) {
    const auto& item = spec().devices[i];
    Device& device = machine_.devices_[i];
    device.proxy = {};
    if (item.proxy.empty()) continue;
    const std::optional<DeviceId> proxy = machine_.find_device(item.proxy);
    if (!proxy || !spec().devices[proxy->index].uses_host_memory) {
      return spec_error(spec(), item.line,
                        fmt::format("device '{}' has the proxy '{}'; name a device that uses its "
                                    "host's memory",
                                    device.name, item.proxy));
    }
    device.proxy = *proxy;
  }
  return {};
}

MemoryId MachineBuilder::add_memory(std::string name, HostId host, int64_t bytes, bool passable) {
  const int place = network_.add_place(passable);
  place_by_name_[name] = place;
  engines_.emplace_back();
  machine_.memories_.push_back({.name = std::move(name), .host = host, .capacity_bytes = bytes});
  return MemoryId{place};
}

void MachineBuilder::add_copy_engines(const MachineSpec::DeviceSpec& device) {
  const std::string& name = device.device.name;
  if (device.copy_engines == 1) {
    const ChannelId both = add_channel({.name = name + ".copy"});
    engines_.back() = {.forward = both, .backward = both};
  } else if (device.copy_engines == 2) {
    engines_.back().forward = add_channel({.name = name + ".copy-out"});
    engines_.back().backward = add_channel({.name = name + ".copy-in"});
  }
}

void MachineBuilder::add_switches() {
  for (const auto& item : spec().switches) {
    place_by_name_[item.name] = network_.add_place(/*passable=*/true);
    const bool limits = item.bytes_per_s > 0 || item.sharing == Sharing::exclusive;
    switch_channel_.push_back(limits ? add_channel({.name = item.name,
                                                    .sharing = item.sharing,
                                                    .capacity = item.capacity,
                                                    .bytes_per_s = item.bytes_per_s})
                                     : ChannelId{});
  }
}

Result<void> MachineBuilder::add_links() {
  for (const auto& link : spec().links) {
    int places[2];
    for (const int end : {0, 1}) {
      const auto found = place_by_name_.find(link.ends[end]);
      if (found == place_by_name_.end()) {
        return spec_error(spec(), link.line,
                          fmt::format("link '{}' ends at '{}', which is no device, host or switch",
                                      link.name, link.ends[end]));
      }
      places[end] = found->second;
    }
    if (places[0] == places[1]) {
      return spec_error(
          spec(), link.line,
          fmt::format("link '{}' joins '{}' and '{}', which are one memory or switch; remove it",
                      link.name, link.ends[0], link.ends[1]));
    }
    link_by_name_[link.name] = network_.add_link(places[0], places[1], link.latency);
    Channel channel{.name = link.name,
                    .sharing = link.sharing,
                    .capacity = link.capacity,
                    .bytes_per_s = link.bytes_per_s,
                    .latency = link.latency};
    // Nothing is divided where nothing is limited.
    if (link.bytes_per_s == 0 && link.sharing == Sharing::shared) {
      channel.sharing = Sharing::unlimited;
    }
    Pair& pair = link_channels_.emplace_back();
    if (link.full_duplex) channel.name = link.name + ">";
    pair.forward = pair.backward = add_channel(channel);
    if (link.full_duplex) {
      channel.name = link.name + "<";
      pair.backward = add_channel(channel);
    }
  }
  return {};
}

ChannelId MachineBuilder::add_channel(Channel channel) {
  machine_.channels_.push_back(std::move(channel));
  return ChannelId{machine_.channel_count() - 1};
}

}  // namespace tutti
