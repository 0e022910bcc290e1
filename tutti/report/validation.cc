#include "tutti/report/validation.h"

namespace tutti {
namespace {

using Agreement = ReportedValidation::Agreement;

constexpr Fields::Real kCorrelation{.least = -1, .most = 1};

Agreement read_agreement(Fields& fields) {
  return {
      .rank_correlation = fields.number("rank_correlation", kCorrelation),
      .rank_correlation_better_half = fields.number("rank_correlation_better_half", kCorrelation),
      .mean_error = fields.number("mean_error", {}),
      .top1_regret = fields.number("top1_regret", {})};
}

ReportedValidation::GraphRow read_graph_row(const Document& item, Fields& above,
                                            const std::string& file) {
  Fields fields(item, file, "a graph of the validation");
  ReportedValidation::GraphRow row;
  row.graph = fields.text("graph", "");
  row.agreement = read_agreement(fields);
  row.bias = fields.number("bias", {.fallback = 0, .least = -1});
  for (const Document& plan : fields.items("plans")) {
    Fields inner(plan, file, "a plan of the validation");
    row.plans.push_back({.policy = inner.text("policy", ""),
                         .simulated_ns = inner.number("simulated_ns", {}),
                         .real_ns = inner.number("real_ns", {})});
    if (auto done = inner.done_with_foreign_keys(); !done) fields.fail_with(done.error());
  }
  if (auto done = fields.done_with_foreign_keys(); !done) above.fail_with(done.error());
  return row;
}

void write_agreement(const Agreement& agreement, JsonWriter& json) {
  json.field("rank_correlation", agreement.rank_correlation);
  json.field("rank_correlation_better_half", agreement.rank_correlation_better_half);
  json.field("mean_error", agreement.mean_error).field("top1_regret", agreement.top1_regret);
}

}  // namespace

ReportedValidation::ResidualRow read_residual_row(const Document& item, Fields& above,
                                                  const std::string& file) {
  Fields fields(item, file, "a residual of the validation");
  ReportedValidation::ResidualRow row;
  row.kind = fields.text("kind", "");
  row.where = fields.text("where", "");
  row.count = fields.integer("count", {});
  row.median_ratio = fields.number("median_ratio", {});
  row.median_error = fields.number("median_error", {});
  row.time_share = fields.number("time_share", {.most = 1});
  if (auto done = fields.done_with_foreign_keys(); !done) above.fail_with(done.error());
  return row;
}

Result<ReportedValidation> read_validation(Source& source) {
  const std::string file = source.name();
  const Result<Document> root = read_json(source);
  if (!root) return root.error();
  Fields fields(*root, file, "the validation");
  ReportedValidation validation{.name = file};
  if (fields.text("format") != "tutti-validation") {
    fields.fail("this is no validation; 'format' must be tutti-validation");
  }
  fields.schema_version(1);
  validation.machine = fields.text("machine", "");
  const Document* summary = fields.entry("summary");
  if (summary == nullptr) {
    fields.fail("the validation needs the key \"summary\"");
  } else {
    Fields inner(*summary, file, "the summary");
    validation.plans = inner.integer("plans", {});
    validation.agreement = read_agreement(inner);
    if (auto done = inner.done_with_foreign_keys(); !done) fields.fail_with(done.error());
  }
  for (const Document& item : fields.items("graphs")) {
    validation.graphs.push_back(read_graph_row(item, fields, file));
  }
  for (const Document& item : fields.items("residuals")) {
    validation.residuals.push_back(read_residual_row(item, fields, file));
  }
  if (auto done = fields.done_with_foreign_keys(); !done) return done.error();
  return validation;
}

void write_residual_rows(const std::vector<ReportedValidation::ResidualRow>& rows,
                         JsonWriter& json) {
  json.key("residuals").open_list();
  for (const auto& row : rows) {
    json.open_object().field("kind", row.kind).field("where", row.where).field("count", row.count);
    json.field("median_ratio", row.median_ratio).field("median_error", row.median_error);
    json.field("time_share", row.time_share).close_object();
  }
  json.close_list();
}

void write_validation(const ReportedValidation& validation, JsonWriter& json) {
  json.open_object().field("name", validation.name).field("machine", validation.machine);
  json.field("plans", validation.plans);
  write_agreement(validation.agreement, json);
  json.key("graphs").open_list();
  for (const auto& graph : validation.graphs) {
    json.open_object().field("graph", graph.graph).field("bias", graph.bias);
    write_agreement(graph.agreement, json);
    json.key("plans").open_list();
    for (const auto& plan : graph.plans) {
      json.open_object().field("policy", plan.policy).field("simulated_ns", plan.simulated_ns);
      json.field("real_ns", plan.real_ns).close_object();
    }
    json.close_list().close_object();
  }
  json.close_list();
  write_residual_rows(validation.residuals, json);
  json.close_object();
}

}  // namespace tutti
