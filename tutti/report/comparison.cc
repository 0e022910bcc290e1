#include "tutti/report/comparison.h"

#include "tutti/base/file/fields.h"

namespace tutti {
namespace {

// Of real runs. A single one has neither spread nor interval.
void read_measured(const Document& measured, Fields& row, const std::string& file,
                   ComparedPolicy& result) {
  Fields fields(measured, file, "\"measured_ns\"");
  result.mean_ns = fields.number("mean", {});
  result.min_ns = fields.number("least", {});
  const Document* stddev = fields.entry("stddev");
  if (stddev != nullptr && stddev->kind != Document::Kind::null) {
    result.stddev_ns = fields.as_number(*stddev, "stddev", {}).value_or(0);
  }
  result.runs = static_cast<int64_t>(row.items("makespans_ns").size());
  if (auto done = fields.done_with_foreign_keys(); !done) row.fail_with(done.error());
}

void read_makespan(Fields& row, const std::string& file, ComparedPolicy& result) {
  const Document* makespan = row.entry("makespan_ns");
  if (makespan == nullptr) {
    row.fail("a result of the comparison needs the key \"makespan_ns\" or \"error\"");
    return;
  }
  Fields fields(*makespan, file, "\"makespan_ns\"");
  result.mean_ns = fields.number("mean", {});
  result.min_ns = fields.number("min", {});
  result.stddev_ns = fields.number("stddev", {.fallback = 0});
  result.runs = fields.integer("runs", {.fallback = 1});
  if (auto done = fields.done_with_foreign_keys(); !done) row.fail_with(done.error());
}

Result<ComparedPolicy> read_result(const Document& item, const std::string& file) {
  Fields fields(item, file, "a result of the comparison");
  ComparedPolicy result;
  result.policy = fields.text("policy");
  const Document* barriers = fields.entry("bulk_synchronous");
  if (barriers != nullptr && barriers->boolean) result.policy += ", bulk-synchronous";
  if (fields.entry("error") != nullptr) {
    result.error = fields.text("error", "");
  } else {
    const Document* measured = fields.entry("measured_ns");
    if (measured != nullptr) {
      read_measured(*measured, fields, file, result);
    } else {
      read_makespan(fields, file, result);
    }
    const char* key = measured != nullptr ? "predicted_ns" : "planned_makespan_ns";
    const Document* planned = fields.entry(key);
    if (planned != nullptr && planned->kind != Document::Kind::null) {
      result.planned_ns = fields.as_number(*planned, key, {});
    }
    result.plan_seconds = fields.number("plan_seconds", {.fallback = 0});
  }
  if (auto done = fields.done_with_foreign_keys(); !done) return done.error();
  return result;
}

}  // namespace

bool looks_like_comparison(std::string_view start) {
  const size_t first = start.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && start[first] == '{' &&
         start.find("\"results\"") != std::string_view::npos &&
         (start.find("\"bounds_ns\"") != std::string_view::npos ||
          start.find("\"measured_ns\"") != std::string_view::npos);
}

Result<Comparison> read_comparison(Source& source) {
  const std::string file = source.name();
  const Result<Document> root = read_json(source);
  if (!root) return root.error();
  Fields fields(*root, file, "the comparison");
  Comparison comparison{.name = file};
  fields.schema_version(1);
  comparison.graph = fields.text("graph", "");
  comparison.machine = fields.text("machine", "");
  comparison.runtime = fields.text("runtime", "");
  if (comparison.runtime.empty()) {
    comparison.model = fields.text("model", "");
    comparison.lower_bound_ns = fields.number("lower_bound_ns", {});
  }
  for (const Document& item : fields.items("results")) {
    Result<ComparedPolicy> result = read_result(item, file);
    if (!result) return result.error();
    comparison.results.push_back(std::move(*result));
  }
  if (auto done = fields.done_with_foreign_keys(); !done) return done.error();
  return comparison;
}

}  // namespace tutti
