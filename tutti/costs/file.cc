#include "tutti/costs/file.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "tutti/base/file/document.h"
#include "tutti/base/file/fields.h"

namespace tutti {
namespace {

constexpr double kLongest = static_cast<double>(kLongestTimeNs);
constexpr double kMostWork = 1e30;  // flops, bytes or runs

NoiseSpec read_noise(Fields& above, const std::string& file, const char* key) {
  NoiseSpec noise;
  const Document* entry = above.entry(key);
  if (entry == nullptr) return noise;
  Fields fields(*entry, file, key);
  noise.model =
      static_cast<NoiseSpec::Model>(fields.choice("model", {"none", "log_normal", "student_t"}));
  noise.spread = fields.number("spread", {.fallback = 0.0, .most = 10});
  if (noise.model == NoiseSpec::Model::none && noise.spread > 0) {
    fields.fail(std::string(key) + " has a spread but no model; choose log_normal or student_t");
  }
  noise.freedom = fields.number("freedom", {.fallback = 3.0, .least = 3, .most = 1e6});
  fields.done_within(above);
  return noise;
}

MeasuredPoint read_point(const Document& item, const std::string& variant, Fields& fields) {
  MeasuredPoint point{.work = {.variant = variant}};
  if (item.kind != Document::Kind::array || item.items.size() != 6) {
    fields.fail_at(item,
                   "\"points\" must be a list of [flops, read_bytes, written_bytes, time_ns, "
                   "spread, count]");
    return point;
  }
  struct Column {
    const char* name;
    double* into;
    Fields::Real rule;
  };
  const Column columns[] = {{"flops", &point.work.flops, {.most = kMostWork}},
                            {"read_bytes", &point.work.read_bytes, {.most = kMostWork}},
                            {"written_bytes", &point.work.written_bytes, {.most = kMostWork}},
                            {"time_ns", &point.time_ns, {.least = 1e-3, .most = kLongest}},
                            {"spread", &point.spread, {.most = 10}},
                            {"count", &point.count, {.least = 1, .most = kMostWork}}};
  for (size_t i = 0; i < 6; ++i) {
    *columns[i].into = fields.as_number(item.items[i], columns[i].name, columns[i].rule)
                           .value_or(columns[i].rule.least);
  }
  return point;
}

void read_run_time(Fields& fields, CostSpec::RunTime& row) {
  row.line = fields.line();
  row.kind = fields.text("kind");
  row.device_kind = fields.text("device_kind", "");
  const Document* constant = fields.entry("time_ns");
  const std::vector<Document>& sizes = fields.items("time_ns_by_size");
  const std::vector<Document>& points = fields.items("points");
  const std::string variant = fields.text("variant", "");
  if ((constant != nullptr) + !sizes.empty() + !points.empty() != 1) {
    fields.fail(
        "run_time needs either \"time_ns\", or a \"time_ns_by_size\" or \"points\" that is not "
        "empty");
  }
  if (!variant.empty() && points.empty()) fields.fail("\"variant\" is for \"points\" alone");
  for (const Document& point : points) row.points.push_back(read_point(point, variant, fields));
  if (constant != nullptr) {
    row.time_ns_by_size.emplace_back(
        0, fields.as_number(*constant, "time_ns", {.most = kLongest}).value_or(0));
  }
  for (const Document& pair : sizes) {
    if (pair.kind != Document::Kind::array || pair.items.size() != 2) {
      fields.fail_at(pair, "\"time_ns_by_size\" must be a list of [size, time] pairs");
      break;
    }
    const auto size = fields.as_number(pair.items[0], "size", {.least = 1e-9});
    const auto time = fields.as_number(pair.items[1], "time_ns", {.most = kLongest});
    if (!size || !time) break;
    if (!row.time_ns_by_size.empty() && row.time_ns_by_size.back().first >= *size) {
      fields.fail_at(pair, "the sizes of \"time_ns_by_size\" must ascend");
    }
    row.time_ns_by_size.emplace_back(*size, *time);
  }
}

void read_op_time(Fields& fields, CostSpec::OpTime& row) {
  row.line = fields.line();
  row.op = fields.text("op");
  row.device_kind = fields.text("device_kind", "");
  row.time_ns = fields.number("time_ns", {.most = kLongest});
  row.spread = fields.number("spread", {.fallback = 0.0, .most = 10});
}

void read_efficiency(Fields& fields, CostSpec::Efficiency& row) {
  row.line = fields.line();
  row.kind = fields.text("kind");
  row.device_kind = fields.text("device_kind", "");
  row.efficiency = fields.number("efficiency", {.fallback = 1.0, .least = 1e-6, .most = 1});
  if (const Document* overhead = fields.entry("launch_overhead_ns")) {
    row.launch_overhead_ns = fields.as_number(*overhead, "launch_overhead_ns", {.most = kLongest});
  }
}

void read_demand(Fields& fields, CostSpec::Demand& row) {
  constexpr double kMostBytes = 1e18;
  row.kind = fields.text("kind");
  row.device_kind = fields.text("device_kind", "");
  row.share = fields.number("share", {.fallback = 1.0, .most = 1});
  row.cache_bytes_per_s = fields.number("cache_bytes_per_s", {.fallback = 0.0, .most = kMostBytes});
  row.memory_bytes_per_s =
      fields.number("memory_bytes_per_s", {.fallback = 0.0, .most = kMostBytes});
  row.host_read_bytes_per_s =
      fields.number("host_read_bytes_per_s", {.fallback = 0.0, .most = kMostBytes});
  row.host_write_bytes_per_s =
      fields.number("host_write_bytes_per_s", {.fallback = 0.0, .most = kMostBytes});
  row.proxy = fields.number("proxy", {.fallback = 0.0, .most = 1});
}

std::optional<CostSpec::Calibration> read_calibration(Fields& above, const std::string& file) {
  const Document* entry = above.entry("calibration");
  if (entry == nullptr) return std::nullopt;
  Fields fields(*entry, file, "calibration");
  CostSpec::Calibration calibration;
  calibration.machine = fields.text("machine", "");
  if (fields.entry("machine_fingerprint") != nullptr)
    calibration.machine_fingerprint = fields.fingerprint("machine_fingerprint");
  calibration.graphs = fields.fingerprints("graphs");
  calibration.drift = fields.texts("drift");
  fields.done_within(above);
  return calibration;
}

std::optional<CostSpec::Validation> read_validation(Fields& above, const std::string& file) {
  const Document* entry = above.entry("validation");
  if (entry == nullptr) return std::nullopt;
  Fields fields(*entry, file, "validation");
  constexpr int kMany = 1'000'000'000;
  const CostSpec::Validation validation{
      .graphs = static_cast<int>(fields.integer("graphs", {.most = kMany})),
      .plans = static_cast<int>(fields.integer("plans", {.most = kMany})),
      .rank_correlation = fields.number("rank_correlation", {.least = -1, .most = 1}),
      .rank_correlation_better_half =
          fields.number("rank_correlation_better_half", {.least = -1, .most = 1}),
      .mean_error = fields.number("mean_error", {}),
      .top1_regret = fields.number("top1_regret", {})};
  fields.done_within(above);
  return validation;
}

template <class Row, class Read>
void read_rows(Fields& above, const std::string& file, const char* key, std::vector<Row>& rows,
               const Read& read) {
  for (const Document& item : above.items(key)) {
    Fields fields(item, file, key);
    read(fields, rows.emplace_back());
    fields.done_within(above);
  }
}

void check_point_counts(const CostSpec& spec, Fields& fields) {
  std::map<std::pair<std::string, std::string>, size_t> counts;
  for (const CostSpec::RunTime& row : spec.run_times) {
    size_t& count = counts[{row.kind, row.device_kind}];
    count += row.points.size();
    if (count <= kMostPoints) continue;
    fields.fail(fmt::format("there are more than {} points for kind '{}' on device kind '{}'",
                            kMostPoints, row.kind, row.device_kind));
  }
}

}  // namespace

Result<CostSpec> read_costs(Source& source) {
  const Result<Document> document = read_document(source);
  if (!document) return document.error();
  const std::string& file = source.name();
  CostSpec spec;
  Fields fields(*document, file, "a costs file");
  fields.schema_version(1);
  spec.ignore_given_times = fields.boolean("ignore_given_times", false);
  read_rows(fields, file, "op_time", spec.op_times, read_op_time);
  read_rows(fields, file, "run_time", spec.run_times, read_run_time);
  read_rows(fields, file, "efficiency", spec.efficiencies, read_efficiency);
  read_rows(fields, file, "demand", spec.demands, read_demand);
  spec.run_time_noise = read_noise(fields, file, "run_time_noise");
  spec.transfer_noise = read_noise(fields, file, "transfer_noise");
  read_rows(fields, file, "kind_noise", spec.kind_noise,
            [&](Fields& entry, CostSpec::KindNoise& row) {
              row.kind = entry.text("kind");
              row.noise = read_noise(entry, file, "noise");
            });
  spec.calibration = read_calibration(fields, file);
  spec.validation = read_validation(fields, file);
  check_point_counts(spec, fields);
  if (Result<void> done = fields.done(); !done) return done.error();
  return spec;
}

}  // namespace tutti
