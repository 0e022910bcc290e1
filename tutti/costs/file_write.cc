// Writing costs files: first as JSON parts, each a key and its text; TOML spells scalars, lists and
// texts as JSON does, and differs in its tables alone.

#include <fmt/format.h>

#include <functional>
#include <utility>
#include <vector>

#include "tutti/base/file/json_writer.h"
#include "tutti/base/fingerprint.h"
#include "tutti/costs/file.h"

namespace tutti {
namespace {

// A table: keys with values that are JSON and TOML at once, or a table further in.
struct Table {
  std::vector<std::pair<std::string, std::string>> entries{};
  std::vector<std::pair<std::string, Table>> tables{};

  template <class T>
  Table& add(const char* key, const T& scalar) {
    JsonWriter json;
    json.value(scalar);
    entries.emplace_back(key, json.text());
    return *this;
  }
  // What `write` writes between the brackets of a list.
  Table& add_list(const char* key, const std::function<void(JsonWriter&)>& write) {
    JsonWriter json(/*inline_depth=*/0);
    json.open_list();
    write(json);
    std::string text = json.close_list().text();
    text.pop_back();  // the newline after a whole document
    entries.emplace_back(key, std::move(text));
    return *this;
  }
};

struct Part {
  const char* section;
  bool repeated;  // one of several under that name
  Table table;
};

Table noise_table(const NoiseSpec& noise) {
  constexpr const char* kModels[] = {"none", "log_normal", "student_t"};
  Table table;
  table.add("model", kModels[static_cast<size_t>(noise.model)]);
  if (noise.model == NoiseSpec::Model::none) return table;
  table.add("spread", noise.spread);
  if (noise.model == NoiseSpec::Model::student_t) table.add("freedom", noise.freedom);
  return table;
}

Table run_time_table(const CostSpec::RunTime& row) {
  Table table;
  table.add("kind", row.kind);
  if (!row.device_kind.empty()) table.add("device_kind", row.device_kind);
  if (!row.points.empty()) {
    if (const std::string& variant = row.points[0].work.variant; !variant.empty()) {
      table.add("variant", variant);
    }
    return table.add_list("points", [&](JsonWriter& json) {
      for (const MeasuredPoint& point : row.points) {
        json.open_list().value(point.work.flops).value(point.work.read_bytes);
        json.value(point.work.written_bytes).value(point.time_ns).value(point.spread);
        json.value(point.count).close_list();
      }
    });
  }
  const auto& sizes = row.time_ns_by_size;
  if (sizes.size() == 1 && sizes[0].first == 0) return table.add("time_ns", sizes[0].second);
  return table.add_list("time_ns_by_size", [&](JsonWriter& json) {
    for (const auto& [size, time] : sizes) json.open_list().value(size).value(time).close_list();
  });
}

Table op_time_table(const CostSpec::OpTime& row) {
  Table table;
  table.add("op", row.op);
  if (!row.device_kind.empty()) table.add("device_kind", row.device_kind);
  table.add("time_ns", row.time_ns);
  if (row.spread > 0) table.add("spread", row.spread);
  return table;
}

Table efficiency_table(const CostSpec::Efficiency& row) {
  Table table;
  table.add("kind", row.kind);
  if (!row.device_kind.empty()) table.add("device_kind", row.device_kind);
  table.add("efficiency", row.efficiency);
  if (row.launch_overhead_ns) table.add("launch_overhead_ns", *row.launch_overhead_ns);
  return table;
}

Table calibration_table(const CostSpec::Calibration& calibration) {
  Table table;
  table.add("machine", calibration.machine);
  table.add("machine_fingerprint", fingerprint_text(calibration.machine_fingerprint));
  table.add_list("graphs", [&](JsonWriter& json) {
    for (const uint64_t graph : calibration.graphs) json.value(fingerprint_text(graph));
  });
  return table.add_list("drift", [&](JsonWriter& json) {
    for (const std::string& sentence : calibration.drift) json.value(sentence);
  });
}

Table validation_table(const CostSpec::Validation& validation) {
  Table table;
  table.add("graphs", validation.graphs).add("plans", validation.plans);
  table.add("rank_correlation", validation.rank_correlation);
  table.add("rank_correlation_better_half", validation.rank_correlation_better_half);
  return table.add("mean_error", validation.mean_error).add("top1_regret", validation.top1_regret);
}

Table demand_table(const CostSpec::Demand& row) {
  Table table;
  table.add("kind", row.kind);
  if (!row.device_kind.empty()) table.add("device_kind", row.device_kind);
  table.add("share", row.share);
  table.add("cache_bytes_per_s", row.cache_bytes_per_s);
  table.add("memory_bytes_per_s", row.memory_bytes_per_s);
  table.add("host_read_bytes_per_s", row.host_read_bytes_per_s);
  table.add("host_write_bytes_per_s", row.host_write_bytes_per_s);
  return table.add("proxy", row.proxy);
}

std::vector<Part> parts_of(const CostSpec& spec) {
  std::vector<Part> parts;
  for (const auto& row : spec.op_times) parts.push_back({"op_time", true, op_time_table(row)});
  for (const auto& row : spec.run_times) parts.push_back({"run_time", true, run_time_table(row)});
  for (const auto& row : spec.efficiencies) {
    parts.push_back({"efficiency", true, efficiency_table(row)});
  }
  for (const auto& row : spec.demands) parts.push_back({"demand", true, demand_table(row)});
  for (const auto& row : spec.kind_noise) {
    Table table;
    table.add("kind", row.kind).tables.emplace_back("noise", noise_table(row.noise));
    parts.push_back({"kind_noise", true, std::move(table)});
  }
  parts.push_back({"run_time_noise", false, noise_table(spec.run_time_noise)});
  parts.push_back({"transfer_noise", false, noise_table(spec.transfer_noise)});
  if (spec.calibration) {
    parts.push_back({"calibration", false, calibration_table(*spec.calibration)});
  }
  if (spec.validation) parts.push_back({"validation", false, validation_table(*spec.validation)});
  return parts;
}

void write_json(const Table& table, JsonWriter& json) {
  json.open_object();
  for (const auto& [key, value] : table.entries) json.key(key).raw(value);
  for (const auto& [key, inner] : table.tables) {
    json.key(key);
    write_json(inner, json);
  }
  json.close_object();
}

std::string inline_toml(const Table& table) {
  std::string text;
  for (const auto& [key, value] : table.entries) {
    text += (text.empty() ? "{ " : ", ") + key + " = " + value;
  }
  return text + " }";
}

}  // namespace

std::string costs_to_toml(const CostSpec& spec) {
  std::string text = "schema_version = 1\n";
  if (spec.ignore_given_times) text += "ignore_given_times = true\n";
  for (const Part& part : parts_of(spec)) {
    text += part.repeated ? fmt::format("\n[[{}]]\n", part.section)
                          : fmt::format("\n[{}]\n", part.section);
    for (const auto& [key, value] : part.table.entries) text += key + " = " + value + "\n";
    for (const auto& [key, inner] : part.table.tables) {
      text += key + " = " + inline_toml(inner) + "\n";
    }
  }
  return text;
}

std::string costs_to_json(const CostSpec& spec) {
  JsonWriter json;
  json.open_object().field("schema_version", 1);
  if (spec.ignore_given_times) json.field("ignore_given_times", true);
  const std::vector<Part> parts = parts_of(spec);
  for (size_t i = 0; i < parts.size(); ++i) {
    const bool begins = i == 0 || std::string_view(parts[i - 1].section) != parts[i].section;
    const bool ends =
        i + 1 == parts.size() || std::string_view(parts[i + 1].section) != parts[i].section;
    if (begins) json.key(parts[i].section);
    if (begins && parts[i].repeated) json.open_list();
    write_json(parts[i].table, json);
    if (ends && parts[i].repeated) json.close_list();
  }
  return json.close_object().text();
}

}  // namespace tutti
