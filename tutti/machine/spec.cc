#include "tutti/machine/spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>
#include <utility>

#include "tutti/base/file/source.h"
#include "tutti/base/fingerprint.h"

namespace tutti {
namespace {

// Text that every notation of ours can hold as it is.
bool is_plain(const std::string& text) {
  return !text.empty() && std::none_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  });
}

// Remembers the first thing that is wrong; after that every check is idle.
class SpecChecker {
 public:
  explicit SpecChecker(MachineSpec& spec) : spec_(spec) {}

  Result<void> run() {
    check_counts();
    if (error_) return *error_;
    for (auto& host : spec_.hosts) check_host(host);
    for (auto& device : spec_.devices) check_device(device);
    for (auto& item : spec_.switches) check_switch(item);
    for (auto& link : spec_.links) check_link(link);
    if (error_) return *error_;
    return {};
  }

 private:
  using Host = MachineSpec::HostSpec;
  using Device = MachineSpec::DeviceSpec;
  using Switch = MachineSpec::SwitchSpec;
  using Link = MachineSpec::LinkSpec;

  void check_counts() {
    if (!spec_.name.empty() && !is_plain(spec_.name)) {
      fail(0, "the machine's name has control characters; remove them");
    }
    if (spec_.devices.empty()) fail(0, "a machine needs at least one device");
    most(spec_.hosts.size(), kMostHosts, "hosts");
    most(spec_.devices.size(), kMostDevices, "devices");
    most(spec_.switches.size(), kMostSwitches, "switches");
    most(spec_.links.size(), kMostLinks, "links");
    const auto with_memory = std::count_if(spec_.devices.begin(), spec_.devices.end(),
                                           [](const Device& d) { return !d.uses_host_memory; });
    most(static_cast<size_t>(with_memory), kMostDevicesWithMemory,
         "devices with a memory of their own");
  }

  void check_host(Host& host) {
    what_ = fmt::format("host '{}'", host.name);
    claim(host.line, "host", host.name);
    at_least_one_byte(host.line, host.memory_bytes);
    rate(host.line, "root_bytes_per_s", host.root_bytes_per_s);
    rate(host.line, "cache_bytes_per_s", host.cache_bytes_per_s);
  }

  void check_device(Device& spec) {
    auto& device = spec.device;
    what_ = fmt::format("device '{}'", device.name);
    claim(spec.line, "device", device.name);
    if (spec.copy_engines >= 1) {
      const bool one = spec.copy_engines == 1;
      claim(spec.line, "copy engine", device.name + (one ? ".copy" : ".copy-out"));
      if (!one) claim(spec.line, "copy engine", device.name + ".copy-in");
    }
    if (!is_plain(device.kind)) {
      fail(spec.line, what_ + " needs a kind without control characters, such as \"gpu\"");
    }
    if (spec.host.empty()) spec.host = spec_.hosts[0].name;
    range(spec.line, "slots", device.slots, 1, kMostSlots);
    range(spec.line, "units", device.units, 0, kMostUnits);
    range(spec.line, "contexts", device.contexts, 0, kMostSlots);
    range(spec.line, "reconfiguration_time_ns", device.reconfiguration_time.count(), 0,
          kLongestLatencyNs);
    if (device.contexts > 0 && device.contexts != device.slots) {
      fail(spec.line, fmt::format("{} has {} contexts but {} slots; leave slots out: each context "
                                  "is one",
                                  what_, device.contexts, device.slots));
    }
    if (device.contexts == 0 && device.reconfiguration_time.count() > 0) {
      fail(spec.line, what_ + " has a reconfiguration_time_ns but no contexts; say how many");
    }
    range(spec.line, "copy_engines", spec.copy_engines, 0, 2);
    range(spec.line, "launch_overhead_ns", device.launch_overhead.count(), 0, kLongestLatencyNs);
    at_least_one_byte(spec.line, spec.memory_bytes);
    if (spec.uses_host_memory && (spec.memory_bytes != kUnlimitedBytes || spec.copy_engines > 0)) {
      fail(spec.line, what_ +
                          " uses its host's memory; memory_bytes belongs to the host, and "
                          "copy_engines to a device with a memory of its own");
    }
    rate(spec.line, "flops_per_s", device.flops_per_s);
    rate(spec.line, "bytes_per_s", device.bytes_per_s);
    auto& by_dtype = device.flops_per_s_by_dtype;
    std::stable_sort(by_dtype.begin(), by_dtype.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (size_t i = 0; i < by_dtype.size(); ++i) {
      rate(spec.line, "flops_per_s_by_dtype", by_dtype[i].second);
      if (!is_plain(by_dtype[i].first) || (i > 0 && by_dtype[i].first == by_dtype[i - 1].first)) {
        fail(spec.line,
             fmt::format("dtype '{}' of {} is no name or stands twice", by_dtype[i].first, what_));
      }
    }
  }

  void check_switch(Switch& item) {
    what_ = fmt::format("switch '{}'", item.name);
    claim(item.line, "switch", item.name);
    rate(item.line, "bandwidth_bytes_per_s", item.bytes_per_s);
    range(item.line, "capacity", item.capacity, 1, kMostCapacity);
  }

  void check_link(Link& link) {
    what_ = fmt::format("link '{}'", link.name);
    claim(link.line, "link", link.name);
    rate(link.line, "bandwidth_bytes_per_s", link.bytes_per_s);
    range(link.line, "capacity", link.capacity, 1, kMostCapacity);
    range(link.line, "latency_ns", link.latency.count(), 0, kLongestLatencyNs);
  }

  void most(size_t count, int limit, const char* things) {
    if (count <= static_cast<size_t>(limit)) return;
    fail(0, fmt::format("the machine has {} {}; tutti takes at most {}", count, things, limit));
  }

  // Channels are named after links with '<' or '>' added, and written routes join names by '+'.
  void claim(int line, const char* kind, const std::string& name) {
    if (name.find_first_of("+<>") != std::string::npos || !is_plain(name)) {
      fail(line, fmt::format("a {} needs a name without '+', '<', '>' and control characters; "
                             "'{}' is none",
                             kind, name));
    }
    const auto [other, is_new] = kind_by_name_.emplace(name, kind);
    if (is_new) return;
    fail(line, fmt::format("{} '{}' has the name of another {}; rename one of them", kind, name,
                           other->second));
  }

  void range(int line, const char* key, int64_t value, int64_t least, int64_t greatest) {
    if (value >= least && value <= greatest) return;
    fail(line,
         fmt::format("{} of {} must be from {} to {}, not {}", key, what_, least, greatest, value));
  }

  void at_least_one_byte(int line, int64_t bytes) {
    if (bytes < 1) fail(line, fmt::format("memory_bytes of {} must be at least 1", what_));
  }

  // Below one per second every time would overflow.
  void rate(int line, const char* key, double& value) {
    value += 0.0;  // -0 becomes 0
    if (std::isfinite(value) && (value == 0 || value >= 1)) return;
    fail(line, fmt::format("{} of {} must be 0 (not limited or not known) or a finite number of "
                           "at least 1",
                           key, what_));
  }

  void fail(int line, const std::string& sentence) {
    if (!error_) error_ = spec_error(spec_, line, sentence);
  }

  MachineSpec& spec_;
  std::string what_;  // the part being checked
  std::unordered_map<std::string, const char*> kind_by_name_;
  std::optional<Error> error_;
};

void add_sharing(Fingerprint& print, double bytes_per_s, Sharing sharing, int capacity) {
  print.add(bytes_per_s);
  print.add(static_cast<int32_t>(sharing));
  print.add(capacity);
}

void add_device(Fingerprint& print, const MachineSpec::DeviceSpec& spec) {
  const Device& device = spec.device;
  print.add(device.name);
  print.add(device.kind);
  print.add(spec.host);
  print.add(device.slots);
  // Only where they are given: machines that say nothing of them keep their fingerprints.
  if (device.units > 0) print.add(device.units);
  print.add(device.flops_per_s);
  print.add(static_cast<uint64_t>(device.flops_per_s_by_dtype.size()));
  for (const auto& [dtype, flops_per_s] : device.flops_per_s_by_dtype) {
    print.add(dtype);
    print.add(flops_per_s);
  }
  print.add(device.bytes_per_s);
  print.add(int64_t{device.launch_overhead.count()});
  print.add(int32_t{spec.uses_host_memory});
  print.add(spec.memory_bytes);
  print.add(spec.copy_engines);
  if (device.contexts > 0) {
    print.add(device.contexts);
    print.add(int64_t{device.reconfiguration_time.count()});
  }
  if (!spec.proxy.empty()) print.add(spec.proxy);
}

void add_route(Fingerprint& print, const MachineSpec::RouteSpec& route) {
  print.add(route.from);
  print.add(route.to);
  print.add(static_cast<uint64_t>(route.hops.size()));
  for (const auto& hop : route.hops) {
    print.add(static_cast<uint64_t>(hop.size()));
    for (const std::string& name : hop) print.add(name);
  }
}

}  // namespace

Result<void> complete_spec(MachineSpec& spec) {
  if (spec.hosts.empty()) spec.hosts.push_back({.name = "host"});
  return SpecChecker(spec).run();
}

uint64_t spec_fingerprint(const MachineSpec& spec) {
  Fingerprint print;
  print.add(spec.name);
  print.add(static_cast<uint64_t>(spec.hosts.size()));
  for (const auto& host : spec.hosts) {
    print.add(host.name);
    print.add(host.memory_bytes);
    if (host.root_bytes_per_s > 0) print.add(host.root_bytes_per_s);
    if (host.cache_bytes_per_s > 0) print.add(-host.cache_bytes_per_s);  // not to be mixed up
  }
  print.add(static_cast<uint64_t>(spec.devices.size()));
  for (const auto& device : spec.devices) add_device(print, device);
  print.add(static_cast<uint64_t>(spec.switches.size()));
  for (const auto& item : spec.switches) {
    print.add(item.name);
    add_sharing(print, item.bytes_per_s, item.sharing, item.capacity);
  }
  print.add(static_cast<uint64_t>(spec.links.size()));
  for (const auto& link : spec.links) {
    print.add(link.name);
    print.add(link.ends[0]);
    print.add(link.ends[1]);
    print.add(int64_t{link.latency.count()});
    add_sharing(print, link.bytes_per_s, link.sharing, link.capacity);
    print.add(int32_t{link.full_duplex});
  }
  print.add(static_cast<uint64_t>(spec.routes.size()));
  for (const auto& route : spec.routes) add_route(print, route);
  return print.value();
}

Error spec_error(const MachineSpec& spec, int line, const std::string& sentence) {
  if (spec.file.empty()) return invalid_input(sentence);
  return error_at(spec.file, line > 0 ? line : 1, sentence);
}

}  // namespace tutti
