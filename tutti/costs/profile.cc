#include "tutti/costs/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "tutti/base/file/fields.h"
#include "tutti/graph/import/text.h"
#include "tutti/graph/names.h"

namespace tutti {
namespace {

constexpr std::string_view kKernelTime = "_kernel_time";
constexpr double kNsPerUs = 1e3;

// Means and spreads of runs, by op and kind of device (Welford 1962).
class Runs {
 public:
  void add(const std::string& op, const std::string& device_kind, double ns) {
    const auto [found, is_new] = index_.try_emplace({op, device_kind}, rows_.size());
    if (is_new) rows_.push_back({.op = op, .device_kind = device_kind});
    Row& row = rows_[found->second];
    row.count += 1;
    const double before = ns - row.mean;
    row.mean += before / row.count;
    row.squares += before * (ns - row.mean);
  }

  std::vector<CostSpec::OpTime> op_times() const {
    std::vector<CostSpec::OpTime> times;
    for (const Row& row : rows_) {
      const double deviation = row.count < 2 ? 0 : std::sqrt(row.squares / (row.count - 1));
      const double spread = row.mean > 0 ? std::min(deviation / row.mean, 10.0) : 0;
      times.push_back({row.op, row.device_kind, row.mean, spread});
    }
    return times;
  }

 private:
  struct Row {
    std::string op;
    std::string device_kind;
    double count = 0;
    double mean = 0;
    double squares = 0;
  };
  std::map<std::pair<std::string, std::string>, size_t> index_;
  std::vector<Row> rows_;
};

// "cpu" for CPUExecutionProvider, "gpu" for those of graphics cards; empty for others.
std::string kind_of_provider(std::string_view provider) {
  for (const std::string_view gpu : {"CUDA", "Tensorrt", "ROCM", "MIGraphX", "Dml", "NvTensorRT"}) {
    if (provider.starts_with(gpu)) return "gpu";
  }
  return provider.starts_with("CPU") ? "cpu" : "";
}

// One event of Chrome's trace format, as far as it concerns us.
struct Event {
  std::string category;
  std::string name;
  double ns = 0;
  std::string provider;
  std::optional<int64_t> external_id;
};

class TraceReader {
 public:
  TraceReader(std::string file, std::string device_kind)
      : file_(std::move(file)), device_kind_(std::move(device_kind)) {}

  Result<void> take(const Document& item) {
    if (item.kind != Document::Kind::object) {
      return error_at(file_, item.line, "an event of a trace must be an object");
    }
    const Document* phase = item.find("ph");
    if (phase == nullptr || phase->text != "X") return {};  // names of threads and the like
    Fields fields(item, file_, "event");
    Event event;
    event.name = fields.text("name");
    event.category = fields.text("cat", "");
    event.ns =
        kNsPerUs * fields.number("dur", {.fallback = 0.0,
                                         .most = static_cast<double>(kLongestTimeNs) / kNsPerUs});
    if (const Document* args = fields.entry("args")) read_arguments(*args, event);
    if (const auto done = fields.done_with_foreign_keys(); !done) return done.error();
    keep(std::move(event));
    return {};
  }

  Profile finish() {
    Runs runs;
    for (const Event& event : ops_) {
      const auto kernels =
          event.external_id ? kernel_ns_.find(*event.external_id) : kernel_ns_.end();
      if (kernels != kernel_ns_.end()) {
        runs.add(event.name, "gpu", kernels->second);
      } else {
        runs.add(event.name, kind_of(event), event.ns);
      }
    }
    return {.format = format_, .ops = runs.op_times()};
  }

 private:
  static void read_arguments(const Document& args, Event& event) {
    if (const Document* provider = args.find("provider")) event.provider = provider->text;
    const Document* id = args.find("External id");
    if (id != nullptr && id->kind == Document::Kind::integer) event.external_id = id->integer;
  }

  std::string kind_of(const Event& event) const {
    if (event.category == "gpu_user_annotation") return "gpu";
    const std::string kind = kind_of_provider(event.provider);
    if (!kind.empty()) return kind;
    return device_kind_;
  }

  void keep(Event event) {
    if (event.category == "Node") {
      format_ = "onnxruntime";
      const std::string_view name = event.name;
      // Fences stand before and behind; a node without a name cannot be told from others.
      if (!name.ends_with(kKernelTime) || name.size() == kKernelTime.size()) return;
      event.name.resize(name.size() - kKernelTime.size());
    } else if (event.category == "Session" || event.category == "Api") {
      return;  // of ONNX Runtime: loading and whole runs
    } else if (event.category == "kernel" || event.category == "gpu_memcpy" ||
               event.category == "gpu_memset") {
      format_ = "kineto";
      if (event.external_id) kernel_ns_[*event.external_id] += event.ns;
      return;
    } else if (event.category == "cpu_op" || event.category == "user_annotation" ||
               event.category == "gpu_user_annotation") {
      format_ = "kineto";
    } else if (event.category.starts_with("cuda_") || event.category == "python_function" ||
               event.category == "Trace" || event.category == "overhead" ||
               event.category == "ac2g") {
      return;  // of Kineto: how kernels were launched, and from where
    }
    ops_.push_back(std::move(event));
  }

  std::string file_;
  std::string device_kind_;
  std::string format_ = "trace";
  std::vector<Event> ops_;
  std::unordered_map<int64_t, double> kernel_ns_;  // by external id
};

Result<Profile> read_trace_profile(Source& source, const std::string& device_kind, char first) {
  TraceReader reader(source.name(), device_kind);
  if (first == '{') {
    const Result<Document> root =
        read_json_streamed(source, {"traceEvents"},
                           [&](std::string_view, Document&& item) { return reader.take(item); });
    if (!root) return root.error();
    Fields fields(*root, source.name(), "trace");
    if (fields.entry("traceEvents") == nullptr) {
      return invalid_input(source.name() + ": a trace needs the key \"traceEvents\"");
    }
    fields.items("traceEvents");
    if (const auto done = fields.done_with_foreign_keys(); !done) return done.error();
    return reader.finish();
  }
  const Result<Document> root = read_json(source);
  if (!root) return root.error();
  for (const Document& item : root->items) {
    if (const Result<void> taken = reader.take(item); !taken) return taken.error();
  }
  return reader.finish();
}

struct CsvColumns {
  size_t name = 0;
  size_t time = 0;
  std::optional<size_t> device_kind{};
  double ns = 1;  // of one unit
};

// Fields between commas; quotation marks around a field let it hold commas.
std::vector<std::string> csv_fields(std::string_view line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"') {
      if (quoted && i + 1 < line.size() && line[i + 1] == '"') {
        fields.back() += line[i++];
      } else {
        quoted = !quoted;
      }
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else if (c != '\r' && (quoted || !fields.back().empty() || c != ' ')) {
      fields.back() += c;
    }
  }
  return fields;
}

Result<CsvColumns> read_csv_header(const Lines& lines) {
  constexpr std::pair<std::string_view, double> kUnits[] = {
      {"time_ns", 1}, {"time_us", 1e3}, {"time_ms", 1e6}, {"time_s", 1e9}, {"time", 1e3}};
  CsvColumns columns;
  bool has_name = false;
  bool has_time = false;
  const std::vector<std::string> names = csv_fields(lines.text());
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i] == "name") {
      columns.name = i;
      has_name = true;
    }
    if (names[i] == "device_kind") columns.device_kind = i;
    for (const auto& [unit, ns] : kUnits) {
      if (names[i] != unit) continue;
      columns.time = i;
      columns.ns = ns;
      has_time = true;
    }
  }
  if (has_name && has_time) return columns;
  return lines.error(
      "not a profile that tutti knows: a trace of ONNX Runtime or Kineto as JSON, or a CSV whose "
      "header names the columns name and time_us (or time_ns, time_ms, time_s)");
}

Result<Profile> read_csv_profile(Source& source, const std::string& device_kind) {
  Lines lines(source);
  Runs runs;
  std::optional<CsvColumns> columns;
  for (;;) {
    const Result<bool> more = lines.next();
    if (!more) return more.error();
    if (!*more) break;
    if (lines.blank()) continue;
    if (!columns) {
      const Result<CsvColumns> header = read_csv_header(lines);
      if (!header) return header.error();
      columns = *header;
      continue;
    }
    const std::vector<std::string> fields = csv_fields(lines.text());
    const size_t needed =
        std::max({columns->name, columns->time, columns->device_kind.value_or(0)});
    if (fields.size() <= needed) {
      return lines.error(
          fmt::format("a row needs {} fields, and this has {}", needed + 1, fields.size()));
    }
    const Result<double> time = read_real(fields[columns->time], "a time",
                                          static_cast<double>(kLongestTimeNs) / columns->ns);
    if (!time) return lines.error(time.error().message);
    if (fields[columns->name].empty()) return lines.error("a row needs the name of an op");
    const std::string& kind = columns->device_kind && !fields[*columns->device_kind].empty()
                                  ? fields[*columns->device_kind]
                                  : device_kind;
    runs.add(fields[columns->name], kind, *time * columns->ns);
  }
  if (!columns) return invalid_input(source.name() + ": is empty; a profile was expected");
  return Profile{.format = "csv", .ops = runs.op_times()};
}

}  // namespace

Result<Profile> read_profile(Source& source, const std::string& device_kind) {
  const std::string_view start = source.peek();
  const size_t first = start.find_first_not_of(" \t\r\n");
  const char c = first == std::string_view::npos ? ' ' : start[first];
  Result<Profile> profile = c == '{' || c == '[' ? read_trace_profile(source, device_kind, c)
                                                 : read_csv_profile(source, device_kind);
  if (profile && profile->ops.empty()) {
    return invalid_input(source.name() + ": the profile holds no ops");
  }
  return profile;
}

ProfileMatch match_profile(const Profile& profile, const Graph& graph) {
  ProfileMatch match;
  const NameIndex names(graph);
  std::vector<bool> has_time(static_cast<size_t>(graph.size()), false);
  std::set<std::string> unmatched;
  for (const CostSpec::OpTime& row : profile.ops) {
    const std::optional<OpId> op = names.find(row.op);
    if (op) {
      has_time[static_cast<size_t>(op->index)] = true;
      match.op_times.push_back(row);
    } else if (unmatched.insert(row.op).second) {
      match.unmatched.push_back(row.op);
    }
  }
  for (const OpId op : graph.ops()) {
    if (has_time[static_cast<size_t>(op.index)]) {
      ++match.ops;
    } else {
      match.without.push_back(op);
    }
  }
  return match;
}

}  // namespace tutti
