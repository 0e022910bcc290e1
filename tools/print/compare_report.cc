#include "tools/print/compare_report.h"

#include <fmt/format.h>

#include "tools/print/messages.h"
#include "tools/print/table.h"
#include "tutti/base/file/json_writer.h"
#include "tutti/base/fingerprint.h"
#include "tutti/base/statistics.h"

namespace tutti {
namespace {

// The row of the least mean; none if nothing ran.
const MeasuredPlan* best_of(const std::vector<MeasuredPlan>& rows) {
  const MeasuredPlan* best = nullptr;
  for (const MeasuredPlan& row : rows) {
    if (row.times_ns.empty() || row.error) continue;
    if (best == nullptr || summary_of(row.times_ns).mean < summary_of(best->times_ns).mean) {
      best = &row;
    }
  }
  return best;
}

std::string rows_to_json(const Problem& problem, const std::vector<MeasuredPlan>& rows,
                         const RealSetting& setting) {
  JsonWriter json;
  json.open_object().field("schema_version", 1).field("graph", problem.graph.name());
  json.field("machine", problem.machine.name()).field("runtime", setting.runtime);
  if (!setting.hosts.empty()) {
    json.key("hosts").open_list();
    for (const std::string& host : setting.hosts) json.value(host);
    json.close_list();
  }
  if (setting.stopped) json.field("stopped", true);
  json.key("results").open_list();
  for (const MeasuredPlan& row : rows) {
    json.open_object().field("policy", row.name).field("bulk_synchronous", row.bulk_synchronous);
    if (!row.scheduler.empty()) json.field("scheduler", row.scheduler);
    if (row.error || row.times_ns.empty()) {
      json.field("error", row.error ? row.error->message : "stopped before it was measured");
      json.close_object();
      continue;
    }
    const Summary summary = summary_of(row.times_ns);
    json.key("measured_ns").open_object().field("mean", summary.mean);
    json.key("half_interval");
    summary.count > 1 ? json.value(summary.half_interval) : json.null();
    json.field("median", summary.median).field("least", summary.least).key("stddev");
    summary.count > 1 ? json.value(summary.deviation) : json.null();
    json.close_object();
    json.key("predicted_ns");
    row.predicted_ns ? json.value(*row.predicted_ns) : json.null();
    json.field("plan_seconds", row.plan_seconds).field("misplaced_ops", row.misplaced);
    if (row.results) json.field("results_fingerprint", fingerprint_text(*row.results));
    json.key("makespans_ns").open_list();
    for (const double time : row.times_ns) json.value(static_cast<int64_t>(time));
    json.close_list().close_object();
  }
  json.close_list().close_object();
  return json.text();
}

std::string rows_to_table(const Problem& problem, const std::vector<MeasuredPlan>& rows,
                          const RealSetting& setting) {
  const MeasuredPlan* best = best_of(rows);
  std::string text = fmt::format(
      "graph {} (ops: {}), machine {} (devices: {}), run for real {}\n", problem.graph.name(),
      problem.graph.size(), problem.machine.name(), problem.machine.size(),
      setting.hosts.empty() ? "on this host" : fmt::format("on {} ranks", setting.hosts.size()));
  Table table({"policy", "measured", "± 95 %", "least", "runs", "predicted", "over the best"});
  for (const MeasuredPlan& row : rows) {
    if (row.times_ns.empty() || row.error) continue;
    const Summary summary = summary_of(row.times_ns);
    const Summary first = summary_of(best->times_ns);
    const bool tie = summary.mean - first.mean <= summary.half_interval + first.half_interval;
    table.add({row.name + (row.bulk_synchronous ? ", bulk-synchronous" : ""),
               to_text(nanoseconds_of(summary.mean)),
               summary.count > 1 ? to_text(nanoseconds_of(summary.half_interval)) : "-",
               to_text(nanoseconds_of(summary.least)), std::to_string(summary.count),
               row.predicted_ns ? to_text(nanoseconds_of(*row.predicted_ns)) : "-",
               &row == best ? "best"
                            : fmt::format("{:+.1f} %{}", 100 * (summary.mean / first.mean - 1),
                                          tie ? " (tie)" : "")});
    if (&row == best) table.mark_best();
  }
  if (best != nullptr) text += table.text();
  for (const MeasuredPlan& row : rows) {
    if (row.error) text += fmt::format("  {}: {}\n", row.name, row.error->message);
  }
  return text;
}

}  // namespace

int report_rows(const Problem& problem, const std::vector<MeasuredPlan>& rows,
                const RealSetting& setting, bool json) {
  fmt::print("{}",
             json ? rows_to_json(problem, rows, setting) : rows_to_table(problem, rows, setting));
  bool all_failed = true;
  for (const MeasuredPlan& row : rows) {
    if (!row.error && !row.times_ns.empty()) return 0;
    all_failed = all_failed && row.error;
  }
  return report(all_failed ? *rows.back().error : failed("stopped before anything was measured"));
}

}  // namespace tutti
