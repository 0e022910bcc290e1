#include "tutti/machine/change.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace tutti {
namespace {

Error no_such_device(const MachineSpec& spec, const std::string& which) {
  std::set<std::string> names;
  for (const auto& item : spec.devices) names.insert({item.device.name, item.device.kind});
  return invalid_input(fmt::format("machine '{}' has no device and no kind '{}'; there are {}",
                                   spec.name, which, fmt::join(names, ", ")));
}

bool is(const MachineSpec::DeviceSpec& item, const std::string& which) {
  return item.device.name == which || item.device.kind == which;
}

std::string unused_name(const MachineSpec& spec, const std::string& stem) {
  std::set<std::string> taken;
  for (const auto& item : spec.devices) taken.insert(item.device.name);
  for (const auto& item : spec.hosts) taken.insert(item.name);
  for (const auto& item : spec.switches) taken.insert(item.name);
  for (const auto& item : spec.links) taken.insert(item.name);
  for (int i = 1;; ++i) {
    std::string name = fmt::format("{}-added{}", stem, i);
    if (!taken.contains(name)) return name;
  }
}

}  // namespace

Result<MachineSpec> with_device(const MachineSpec& spec, const std::string& like) {
  const auto found = std::find_if(spec.devices.begin(), spec.devices.end(),
                                  [&](const auto& item) { return is(item, like); });
  if (found == spec.devices.end()) return no_such_device(spec, like);
  MachineSpec changed = spec;
  changed.name = fmt::format("{}+{}", spec.name, like);
  const std::string original = found->device.name;
  MachineSpec::DeviceSpec added = *found;
  added.device.name = unused_name(spec, added.device.kind);
  changed.devices.push_back(added);
  const auto connect = [&](const MachineSpec::LinkSpec& like_this, const std::string& to) {
    MachineSpec::LinkSpec link = like_this;
    link.ends[0] = added.device.name;
    link.ends[1] = to;
    link.name = unused_name(changed, like_this.name);
    changed.links.push_back(link);
  };
  // The original has direct links to other devices, so the new device gets one to the original.
  bool linked = false;
  for (const auto& link : spec.links) {
    for (const int end : {0, 1}) {
      if (link.ends[end] != original) continue;
      const std::string& other = link.ends[1 - end];
      connect(link, other);
      const bool straight =
          std::any_of(spec.devices.begin(), spec.devices.end(),
                      [&](const auto& item) { return item.device.name == other; });
      if (straight && !linked) connect(link, original);
      linked = linked || straight;
    }
  }
  return changed;
}

Result<MachineSpec> without_device(const MachineSpec& spec, const std::string& which) {
  const auto found = std::find_if(spec.devices.rbegin(), spec.devices.rend(),
                                  [&](const auto& item) { return is(item, which); });
  if (found == spec.devices.rend()) return no_such_device(spec, which);
  const std::string name = found->device.name;
  MachineSpec changed = spec;
  changed.name = fmt::format("{}-{}", spec.name, name);
  std::erase_if(changed.devices, [&](const auto& item) { return item.device.name == name; });
  std::set<std::string> gone;
  std::erase_if(changed.links, [&](const auto& link) {
    const bool ends_there = link.ends[0] == name || link.ends[1] == name;
    if (ends_there) gone.insert(link.name);
    return ends_there;
  });
  std::erase_if(changed.routes, [&](const auto& route) {
    return route.from == name || route.to == name ||
           std::any_of(route.hops.begin(), route.hops.end(), [&](const auto& hop) {
             return std::any_of(hop.begin(), hop.end(),
                                [&](const std::string& link) { return gone.contains(link); });
           });
  });
  return changed;
}

MachineSpec with_bandwidth(const MachineSpec& spec, double factor) {
  MachineSpec changed = spec;
  changed.name = fmt::format("{} with {} x bandwidth", spec.name, factor);
  for (auto& link : changed.links) link.bytes_per_s *= factor;
  for (auto& item : changed.switches) item.bytes_per_s *= factor;
  return changed;
}

MachineSpec with_memory(const MachineSpec& spec, double factor) {
  MachineSpec changed = spec;
  changed.name = fmt::format("{} with {} x memory", spec.name, factor);
  for (auto& item : changed.devices) {
    if (item.memory_bytes == kUnlimitedBytes) continue;
    item.memory_bytes = std::llround(static_cast<double>(item.memory_bytes) * factor);
  }
  return changed;
}

}  // namespace tutti
