// Writing machine files.

#include <fmt/format.h>

#include <string_view>
#include <utility>
#include <vector>

#include "tutti/base/file/json_writer.h"
#include "tutti/machine/file.h"
#include "tutti/machine/spec.h"

namespace tutti {
namespace {

// What is written: the same entries in both notations, whose scalars and lists of texts are
// spelled alike.
struct Entry {
  std::string key;
  std::string value;  // unless it is a table
  std::vector<Entry> table{};
};
struct Part {
  const char* section;
  std::vector<Entry> entries;
};

template <class T>
std::string spelled(const T& scalar) {
  JsonWriter json;
  json.value(scalar);
  return json.text();
}

std::string spelled(const std::vector<std::string>& texts) {
  JsonWriter json(/*inline_depth=*/0);
  json.open_list();
  for (const std::string& text : texts) json.value(text);
  std::string list = json.close_list().text();
  list.pop_back();  // the newline after a whole document
  return list;
}

// Leaves out what a reader fills in by itself.
class PartWriter {
 public:
  PartWriter(std::vector<Part>& parts, const char* section)
      : entries_(parts.emplace_back(Part{section, {}}).entries) {}

  template <class T>
  PartWriter& add(const char* key, const T& value) {
    entries_.push_back({key, spelled(value)});
    return *this;
  }
  template <class T>
  PartWriter& add(const char* key, const T& value, const T& fallback) {
    return value == fallback ? *this : add(key, value);
  }
  void add_table(const char* key, const std::vector<std::pair<std::string, double>>& rates) {
    if (rates.empty()) return;
    Entry& entry = entries_.emplace_back(Entry{key, {}});
    for (const auto& [name, rate] : rates) entry.table.push_back({spelled(name), spelled(rate)});
  }
  PartWriter& add_sharing(double bytes_per_s, Sharing sharing, Sharing fallback, int capacity) {
    add("bandwidth_bytes_per_s", bytes_per_s, 0.0);
    if (sharing != fallback) add("sharing", to_text(sharing));
    return add("capacity", capacity, 1);
  }

 private:
  std::vector<Entry>& entries_;
};

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : "+") + name;
  return text;
}

std::vector<Part> parts_of(const MachineSpec& spec) {
  std::vector<Part> parts;
  for (const auto& host : spec.hosts) {
    PartWriter(parts, "host")
        .add("name", host.name)
        .add("memory_bytes", host.memory_bytes, kUnlimitedBytes)
        .add("root_bytes_per_s", host.root_bytes_per_s, 0.0)
        .add("cache_bytes_per_s", host.cache_bytes_per_s, 0.0);
  }
  for (const auto& item : spec.devices) {
    const Device& device = item.device;
    PartWriter(parts, "device")
        .add("name", device.name)
        .add("kind", device.kind)
        .add("host", item.host)
        .add("slots", device.slots, 1)
        .add("contexts", device.contexts, 0)
        .add("reconfiguration_time_ns", device.reconfiguration_time, Duration(0))
        .add("proxy", item.proxy, std::string())
        .add("units", device.units, 0)
        .add("memory_bytes", item.memory_bytes, kUnlimitedBytes)
        .add("uses_host_memory", item.uses_host_memory, false)
        .add("flops_per_s", device.flops_per_s, 0.0)
        .add("bytes_per_s", device.bytes_per_s, 0.0)
        .add("launch_overhead_ns", device.launch_overhead, Duration(0))
        .add("copy_engines", item.copy_engines, 0)
        .add_table("flops_per_s_by_dtype", device.flops_per_s_by_dtype);
  }
  for (const auto& item : spec.switches) {
    PartWriter(parts, "switch")
        .add("name", item.name)
        .add_sharing(item.bytes_per_s, item.sharing, Sharing::shared, item.capacity);
  }
  for (const auto& link : spec.links) {
    PartWriter writer(parts, "link");
    writer.add("name", link.name)
        .add("between", std::vector<std::string>{link.ends[0], link.ends[1]})
        .add("latency_ns", link.latency, Duration(0))
        .add_sharing(link.bytes_per_s, link.sharing, Sharing::exclusive, link.capacity);
    if (!link.full_duplex) writer.add("duplex", "half");
  }
  for (const auto& route : spec.routes) {
    std::vector<std::string> via;
    for (const auto& hop : route.hops) via.push_back(joined(hop));
    PartWriter(parts, "route").add("from", route.from).add("to", route.to).add("via", via);
  }
  return parts;
}

}  // namespace

std::string machine_to_toml(const Machine& machine) {
  std::string text = fmt::format("schema_version = {}\nname = {}\n", kMachineSchemaVersion,
                                 spelled(machine.name()));
  for (const Part& part : parts_of(machine.spec())) {
    text += fmt::format("\n[[{}]]\n", part.section);
    for (const Entry& entry : part.entries) {
      text += entry.key + " = " + entry.value;
      for (size_t i = 0; i < entry.table.size(); ++i) {
        text += fmt::format("{}{} = {}", i == 0 ? "{ " : ", ", entry.table[i].key,
                            entry.table[i].value);
      }
      text += entry.table.empty() ? "\n" : " }\n";
    }
  }
  return text;
}

std::string machine_to_json(const Machine& machine) {
  JsonWriter json;
  json.open_object().field("schema_version", kMachineSchemaVersion).field("name", machine.name());
  std::string_view section;
  for (const Part& part : parts_of(machine.spec())) {
    if (part.section != section) {
      if (!section.empty()) json.close_list();
      section = part.section;
      json.key(section).open_list();
    }
    json.open_object();
    for (const Entry& entry : part.entries) {
      json.key(entry.key);
      if (entry.table.empty()) {
        json.raw(entry.value);
        continue;
      }
      std::string table;
      for (const Entry& rate : entry.table) {
        table += fmt::format("{}{}:{}", table.empty() ? "{" : ",", rate.key, rate.value);
      }
      json.raw(table + "}");
    }
    json.close_object();
  }
  return json.close_list().close_object().text();
}

}  // namespace tutti
