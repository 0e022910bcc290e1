#include "tutti/report/comparison.h"

#include "tutti/base/fields.h"

namespace tutti {
namespace {

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
  if (fields.entry("error") != nullptr) {
    result.error = fields.text("error", "");
  } else {
    read_makespan(fields, file, result);
    const Document* planned = fields.entry("planned_makespan_ns");
    if (planned != nullptr && planned->kind != Document::Kind::null) {
      result.planned_ns = fields.as_number(*planned, "planned_makespan_ns", {});
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
         start.find("\"bounds_ns\"") != std::string_view::npos &&
         start.find("\"results\"") != std::string_view::npos;
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
  comparison.model = fields.text("model", "");
  comparison.lower_bound_ns = fields.number("lower_bound_ns", {});
  for (const Document& item : fields.items("results")) {
    Result<ComparedPolicy> result = read_result(item, file);
    if (!result) return result.error();
    comparison.results.push_back(std::move(*result));
  }
  if (auto done = fields.done_with_foreign_keys(); !done) return done.error();
  return comparison;
}

}  // namespace tutti
