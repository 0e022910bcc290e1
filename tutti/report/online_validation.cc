#include "tutti/report/online_validation.h"

#include "tutti/base/file/fields.h"

namespace tutti {
namespace {

using OnlineFigure = ReportedOnlineValidation::Figure;

// A number and, as NAME_interval, two between which it lies.
OnlineFigure read_figure(Fields& fields, const std::string& name, const Fields::Real& range) {
  OnlineFigure figure;
  figure.value = fields.number(name, range);
  std::vector<double> ends;
  for (const Document& end : fields.items(name + "_interval"))
    ends.push_back(fields.as_number(end, name + "_interval", range).value_or(0));
  if (ends.size() != 2 || ends[0] > ends[1]) {
    fields.fail("'" + name + "_interval' must have two numbers, the lower one first");
    return figure;
  }
  figure.low = ends[0];
  figure.high = ends[1];
  return figure;
}

ReportedOnlineValidation::PolicyRow read_policy_row(const Document& item, Fields& above,
                                                    const std::string& file) {
  Fields fields(item, file, "a policy of the validation");
  ReportedOnlineValidation::PolicyRow row;
  row.policy = fields.text("policy", "");
  row.real = read_figure(fields, "real_slowdown", {});
  row.simulated = read_figure(fields, "simulated_slowdown", {});
  row.error = read_figure(fields, "error", {.least = -1});
  row.real_jobs_in_system = fields.number("real_jobs_in_system", {});
  row.simulated_jobs_in_system = fields.number("simulated_jobs_in_system", {});
  row.decision_ns = fields.number("decision_ns", {});
  if (auto done = fields.done_with_foreign_keys(); !done) above.fail_with(done.error());
  return row;
}

void write_figure(const std::string& name, const OnlineFigure& figure, JsonWriter& json) {
  json.key(name).open_object().field("value", figure.value).field("low", figure.low);
  json.field("high", figure.high).close_object();
}

}  // namespace

Result<ReportedOnlineValidation> read_online_validation(Source& source) {
  const std::string file = source.name();
  const Result<Document> root = read_json(source);
  if (!root) return root.error();
  Fields fields(*root, file, "the validation");
  ReportedOnlineValidation validation{.name = file};
  if (fields.text("format") != "tutti-online-validation") {
    fields.fail("this is no online validation; 'format' must be tutti-online-validation");
  }
  fields.schema_version(1);
  validation.machine = fields.text("machine", "");
  validation.jobs = fields.integer("jobs", {});
  validation.turns = fields.integer("turns", {});
  if (fields.entry("load") != nullptr) validation.load = fields.number("load", {});
  const Document* summary = fields.entry("summary");
  if (summary == nullptr) {
    fields.fail("the validation needs the key \"summary\"");
  } else {
    Fields inner(*summary, file, "the summary");
    constexpr Fields::Real kCorrelated{.least = -1, .most = 1};
    validation.rank_correlation = read_figure(inner, "rank_correlation", kCorrelated);
    validation.mean_error = read_figure(inner, "mean_error", {});
    validation.agreement_of_turns = inner.number("agreement_of_turns", kCorrelated);
    validation.pairs_that_differ = inner.integer("pairs_that_differ", {});
    validation.pairs_in_same_order = inner.integer("pairs_in_same_order", {});
    if (auto done = inner.done_with_foreign_keys(); !done) fields.fail_with(done.error());
  }
  for (const Document& item : fields.items("policies")) {
    validation.policies.push_back(read_policy_row(item, fields, file));
  }
  for (const Document& item : fields.items("residuals")) {
    validation.residuals.push_back(read_residual_row(item, fields, file));
  }
  if (auto done = fields.done_with_foreign_keys(); !done) return done.error();
  return validation;
}

void write_online_validation(const ReportedOnlineValidation& validation, JsonWriter& json) {
  json.open_object().field("name", validation.name).field("machine", validation.machine);
  json.field("jobs", validation.jobs).field("turns", validation.turns).key("load");
  validation.load ? json.value(*validation.load) : json.null();
  write_figure("rank_correlation", validation.rank_correlation, json);
  write_figure("mean_error", validation.mean_error, json);
  json.field("agreement_of_turns", validation.agreement_of_turns);
  json.field("pairs_that_differ", validation.pairs_that_differ);
  json.field("pairs_in_same_order", validation.pairs_in_same_order);
  json.key("policies").open_list();
  for (const auto& row : validation.policies) {
    json.open_object().field("policy", row.policy);
    write_figure("real", row.real, json);
    write_figure("simulated", row.simulated, json);
    write_figure("error", row.error, json);
    json.field("real_jobs_in_system", row.real_jobs_in_system);
    json.field("simulated_jobs_in_system", row.simulated_jobs_in_system);
    json.field("decision_ns", row.decision_ns).close_object();
  }
  json.close_list();
  write_residual_rows(validation.residuals, json);
  json.close_object();
}

}  // namespace tutti
