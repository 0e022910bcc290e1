#include "tutti/costs/file.h"

#include <fmt/format.h>

#include <algorithm>

#include "tutti/base/document.h"
#include "tutti/base/fields.h"

namespace tutti {
namespace {

constexpr double kLongest = static_cast<double>(kLongestTimeNs);

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
  if (Result<void> done = fields.done(); !done) above.fail_with(done.error());
  return noise;
}

CostSpec::RunTime read_run_time(const Document& item, Fields& above, const std::string& file) {
  CostSpec::RunTime row;
  Fields fields(item, file, "run_time");
  row.kind = fields.text("kind");
  row.device_kind = fields.text("device_kind", "");
  const Document* constant = fields.entry("time_ns");
  const std::vector<Document>& sizes = fields.items("time_ns_by_size");
  if ((constant != nullptr) == !sizes.empty()) {
    fields.fail("run_time needs either \"time_ns\" or a \"time_ns_by_size\" that is not empty");
  }
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
  if (Result<void> done = fields.done(); !done) above.fail_with(done.error());
  return row;
}

CostSpec::Efficiency read_efficiency(const Document& item, Fields& above, const std::string& file) {
  CostSpec::Efficiency row;
  Fields fields(item, file, "efficiency");
  row.kind = fields.text("kind");
  row.device_kind = fields.text("device_kind", "");
  row.efficiency = fields.number("efficiency", {.fallback = 1.0, .least = 1e-6, .most = 1});
  if (const Document* overhead = fields.entry("launch_overhead_ns")) {
    row.launch_overhead_ns = fields.as_number(*overhead, "launch_overhead_ns", {.most = kLongest});
  }
  if (Result<void> done = fields.done(); !done) above.fail_with(done.error());
  return row;
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
  for (const Document& item : fields.items("run_time")) {
    spec.run_times.push_back(read_run_time(item, fields, file));
  }
  for (const Document& item : fields.items("efficiency")) {
    spec.efficiencies.push_back(read_efficiency(item, fields, file));
  }
  spec.run_time_noise = read_noise(fields, file, "run_time_noise");
  spec.transfer_noise = read_noise(fields, file, "transfer_noise");
  for (const Document& item : fields.items("kind_noise")) {
    Fields entry(item, file, "kind_noise");
    CostSpec::KindNoise row;
    row.kind = entry.text("kind");
    row.noise = read_noise(entry, file, "noise");
    if (Result<void> done = entry.done(); !done) fields.fail_with(done.error());
    spec.kind_noise.push_back(row);
  }
  if (Result<void> done = fields.done(); !done) return done.error();
  return spec;
}

}  // namespace tutti
