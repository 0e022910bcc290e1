#include "tutti/machine/file.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "tutti/base/file/document.h"
#include "tutti/base/file/fields.h"
#include "tutti/machine/spec.h"

namespace tutti {
namespace {

Sharing read_sharing(Fields& fields, Sharing fallback) {
  std::vector<Sharing> choices = {fallback};
  for (const Sharing other : {Sharing::exclusive, Sharing::shared, Sharing::unlimited}) {
    if (other != fallback) choices.push_back(other);
  }
  std::vector<std::string> texts;
  for (const Sharing choice : choices) texts.emplace_back(to_text(choice));
  return choices[fields.choice("sharing", texts)];
}

int read_capacity(Fields& fields) {
  return static_cast<int>(
      fields.integer("capacity", {.fallback = 1, .least = 1, .most = kMostCapacity}));
}

Duration read_time(Fields& fields, const char* key) {
  return Duration(fields.integer(key, {.fallback = 0, .most = kLongestLatencyNs}));
}

int64_t read_memory_bytes(Fields& fields) {
  return fields.integer("memory_bytes", {.fallback = kUnlimitedBytes, .least = 1});
}

void read_host(Fields& fields, MachineSpec& spec) {
  MachineSpec::HostSpec& host = spec.hosts.emplace_back();
  host.line = fields.line();
  host.name = fields.text("name");
  host.memory_bytes = read_memory_bytes(fields);
  host.root_bytes_per_s = fields.number("root_bytes_per_s", {.fallback = 0.0});
  host.cache_bytes_per_s = fields.number("cache_bytes_per_s", {.fallback = 0.0});
}

void read_rates_by_dtype(Fields& fields, Device& device) {
  const Document* rates = fields.entry("flops_per_s_by_dtype");
  if (rates == nullptr) return;
  if (rates->kind != Document::Kind::object) {
    fields.fail_at(*rates, "\"flops_per_s_by_dtype\" must be a table of dtypes");
    return;
  }
  for (size_t i = 0; i < rates->keys.size(); ++i) {
    const std::string& dtype = rates->keys[i];
    const auto rate = fields.as_number(rates->items[i], dtype, {.least = 1});
    device.flops_per_s_by_dtype.emplace_back(dtype, rate.value_or(1));
  }
}

void read_device(Fields& fields, MachineSpec& spec) {
  MachineSpec::DeviceSpec& item = spec.devices.emplace_back();
  item.line = fields.line();
  Device& device = item.device;
  device.name = fields.text("name");
  device.kind = fields.text("kind");
  item.host = fields.text("host", "");
  device.units =
      static_cast<int>(fields.integer("units", {.fallback = 0, .least = 0, .most = kMostUnits}));
  device.contexts =
      static_cast<int>(fields.integer("contexts", {.fallback = 0, .least = 0, .most = kMostSlots}));
  device.slots = static_cast<int>(fields.integer(
      "slots", {.fallback = std::max(1, device.contexts), .least = 1, .most = kMostSlots}));
  device.reconfiguration_time = read_time(fields, "reconfiguration_time_ns");
  item.proxy = fields.text("proxy", "");
  item.memory_bytes = read_memory_bytes(fields);
  item.uses_host_memory = fields.boolean("uses_host_memory", false);
  device.flops_per_s = fields.number("flops_per_s", {.fallback = 0.0});
  read_rates_by_dtype(fields, device);
  device.bytes_per_s = fields.number("bytes_per_s", {.fallback = 0.0});
  device.launch_overhead = read_time(fields, "launch_overhead_ns");
  item.copy_engines = static_cast<int>(fields.integer("copy_engines", {.fallback = 0, .most = 2}));
}

void read_switch(Fields& fields, MachineSpec& spec) {
  MachineSpec::SwitchSpec& item = spec.switches.emplace_back();
  item.line = fields.line();
  item.name = fields.text("name");
  item.bytes_per_s = fields.number("bandwidth_bytes_per_s", {.fallback = 0.0});
  item.sharing = read_sharing(fields, item.sharing);
  item.capacity = read_capacity(fields);
}

void read_link(Fields& fields, MachineSpec& spec) {
  MachineSpec::LinkSpec& link = spec.links.emplace_back();
  link.line = fields.line();
  link.name = fields.text("name");
  const std::vector<std::string> ends = fields.texts("between");
  if (ends.size() == 2) {
    link.ends[0] = ends[0];
    link.ends[1] = ends[1];
  } else {
    fields.fail(fmt::format("\"between\" of link '{}' must be a list of two names", link.name));
  }
  link.latency = read_time(fields, "latency_ns");
  link.bytes_per_s = fields.number("bandwidth_bytes_per_s", {.fallback = 0.0});
  link.sharing = read_sharing(fields, link.sharing);
  link.capacity = read_capacity(fields);
  link.full_duplex = fields.choice("duplex", {"full", "half"}) == 0;
}

// "a+b" is the hop over a and b.
std::vector<std::string> split_hop(const std::string& text) {
  std::vector<std::string> names(1);
  for (const char c : text) {
    if (c == '+') {
      names.emplace_back();
    } else {
      names.back() += c;
    }
  }
  return names;
}

void read_route(Fields& fields, MachineSpec& spec) {
  MachineSpec::RouteSpec& route = spec.routes.emplace_back();
  route.line = fields.line();
  route.from = fields.text("from");
  route.to = fields.text("to");
  for (const std::string& hop : fields.texts("via")) route.hops.push_back(split_hop(hop));
}

// One kind of part of a machine: the key of its list, its name in sentences, and its reader.
struct Section {
  const char* key;
  const char* what;
  void (*read)(Fields& fields, MachineSpec& spec);
};
constexpr Section kSections[] = {
    {"host", "a host", read_host},       {"device", "a device", read_device},
    {"switch", "a switch", read_switch}, {"link", "a link", read_link},
    {"route", "a route", read_route},
};

}  // namespace

Result<Machine> read_machine(Source& source) {
  const Result<Document> document = read_document(source);
  if (!document) return document.error();
  MachineSpec spec;
  spec.file = source.name();
  Fields fields(*document, spec.file, "a machine");
  fields.schema_version(kMachineSchemaVersion);
  spec.name = fields.text("name", "");
  for (const Section& section : kSections) {
    for (const Document& item : fields.items(section.key)) {
      Fields part(item, spec.file, section.what);
      section.read(part, spec);
      if (auto done = part.done(); !done) return done.error();
    }
  }
  if (auto done = fields.done(); !done) return done.error();
  return Machine::build(std::move(spec));
}

std::vector<DeviceId> devices_without_rates(const Machine& machine) {
  std::vector<DeviceId> found;
  for (const DeviceId id : machine.devices()) {
    const Device& device = machine.device(id);
    if (device.flops_per_s <= 0 && device.flops_per_s_by_dtype.empty()) found.push_back(id);
  }
  return found;
}

}  // namespace tutti
