#include "tutti/plan/recorded_machine.h"

#include <algorithm>
#include <string>

namespace tutti {
namespace {

constexpr double kNetworkBytesPerSecond = 1.25e9;  // 10 Gbit/s
constexpr Duration kNetworkLatency{50000};

Result<Machine> placement_machine(const std::string& name, const PlacementDevices& devices) {
  MachineSpec spec;
  spec.name = name;
  MachineSpec::HostSpec host;
  host.name = "host";
  spec.hosts.push_back(host);
  const auto add = [&](const std::string& device_name, const char* kind) {
    MachineSpec::DeviceSpec device;
    device.device.name = device_name;
    device.device.kind = kind;
    device.host = "host";
    spec.devices.push_back(device);
  };
  for (int i = 0; i < devices.accelerators; ++i) {
    add("accelerator" + std::to_string(i), "accelerator");
    MachineSpec::DeviceSpec& device = spec.devices.back();
    if (devices.accelerator_bytes > 0) device.memory_bytes = devices.accelerator_bytes;
    MachineSpec::LinkSpec link;
    link.name = "link" + std::to_string(i);
    link.ends[0] = "host";
    link.ends[1] = device.device.name;
    link.sharing = Sharing::unlimited;
    spec.links.push_back(link);
  }
  for (int i = 0; i < devices.cpus; ++i) {
    add("cpu" + std::to_string(i), "cpu");
    spec.devices.back().uses_host_memory = true;
  }
  return Machine::build(std::move(spec));
}

}  // namespace

Result<Machine> recorded_machine(const Imported& imported) {
  if (imported.devices) {
    return placement_machine(imported.graph.name() + "-recorded", *imported.devices);
  }
  if (imported.hosts.empty()) {
    return invalid_input(
        "the graph file names no machines, so none can be made from it; choose "
        "another --machine");
  }
  MachineSpec spec;
  spec.name = imported.graph.name() + "-recorded";
  const bool several = imported.hosts.size() > 1;
  if (several) {
    spec.switches.push_back({.name = "network", .bytes_per_s = kNetworkBytesPerSecond});
  }
  for (const WfHost& recorded : imported.hosts) {
    MachineSpec::HostSpec host;
    host.name = recorded.name + "-host";
    spec.hosts.push_back(host);
    MachineSpec::DeviceSpec device;
    device.device.name = recorded.name;
    device.device.kind = "cpu";
    device.device.slots = std::clamp(recorded.cores, 1, 1024);
    device.host = host.name;
    device.uses_host_memory = true;
    spec.devices.push_back(device);
    if (several) {
      MachineSpec::LinkSpec link;
      link.name = recorded.name + "-network";
      link.ends[0] = host.name;
      link.ends[1] = "network";
      link.latency = kNetworkLatency;
      link.bytes_per_s = kNetworkBytesPerSecond;
      link.sharing = Sharing::shared;
      spec.links.push_back(link);
    }
  }
  return Machine::build(std::move(spec));
}

void pin_as_recorded(const Imported& imported, const Graph& graph, Constraints& constraints) {
  for (const OpId op : graph.ops()) {
    const auto index = static_cast<size_t>(op.index);
    if (index >= imported.host_of_op.size() || imported.host_of_op[index] < 0) continue;
    const WfHost& host = imported.hosts[static_cast<size_t>(imported.host_of_op[index])];
    constraints.pins.push_back({std::string(graph.op_name(op)), {host.name}});
  }
}

}  // namespace tutti
