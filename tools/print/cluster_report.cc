#include "tools/print/cluster_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tools/print/table.h"
#include "tutti/base/file/json_writer.h"
#include "tutti/base/statistics.h"

namespace tutti {
namespace {

std::string plus_minus(const Summary& summary, int digits) {
  if (summary.count < 2) return fmt::format("{:.{}f}", summary.mean, digits);
  return fmt::format("{:.{}f} ± {:.{}f}", summary.mean, digits, summary.half_interval, digits);
}

// Of one simulated run.
struct SlowdownFigures {
  Summary summary;
  double p95 = 0;
};

SlowdownFigures slowdown_figures(const JobsRun& run) {
  std::vector<double> slowdowns = run.slowdowns;
  std::sort(slowdowns.begin(), slowdowns.end());
  return {summary_of(run.slowdowns),
          slowdowns[((slowdowns.size() - 1) * 95 + 99) / 100]};  // rounded up
}

void add_load(JsonWriter& json, const std::optional<LoadReport>& load) {
  if (!load) return;
  json.field("load", load->load).field("jobs_per_s", load->jobs_per_s());
  json.field("saturation_jobs_per_s", load->saturation.jobs_per_s);
  if (!load->saturation.decider.empty()) json.field("saturation_decider", load->saturation.decider);
}

std::string in_system_to_text(double mean, double most) {
  return fmt::format("{:.2f} (at most {:g})", mean, most);
}

}  // namespace

std::string load_to_text(const std::optional<LoadReport>& load) {
  if (!load) return {};
  const Saturation& found = load->saturation;
  std::string text = fmt::format("load {:g}: {:.4g} of {} jobs/s", load->load, load->jobs_per_s(),
                                 found.jobs_per_s);
  if (!found.decider.empty()) {
    text += fmt::format(", the saturation in simulation, by {} (again: --saturation {})",
                        found.decider, found.jobs_per_s);
  }
  return text + "\n";
}

std::string simulated_jobs_to_json(const Cluster& cluster, const SimulatedJobs& simulated) {
  const auto& [load, options, seed, runs] = simulated;
  JsonWriter json(2);
  json.open_object().field("schema_version", 2).field("machine", cluster.machine().name());
  json.field("jobs", runs.empty() ? 0 : std::ssize(runs[0].second.jobs));
  add_load(json, load);
  json.field("queue_depth", options.queue_depth);
  json.field("decision_delay_ns", options.decision_delay.count());
  if (options.measured_delay) json.field("measured_delay", true);
  json.field("seed", std::to_string(seed)).key("results").open_list();
  for (const auto& [decider, run] : runs) {
    const JobsRun figures = figures_of(run, 0);
    const auto [summary, p95] = slowdown_figures(figures);
    json.open_object().field("policy", decider);
    json.field("mean_completion_ns", figures.mean_completion_ns);
    json.field("mean_slowdown", summary.mean).field("median_slowdown", summary.median);
    json.field("slowdown_p95", p95).field("makespan_ns", figures.makespan_ns);
    json.field("mean_jobs_in_system", figures.mean_jobs_in_system);
    json.field("most_jobs_in_system", int64_t{std::llround(figures.most_jobs_in_system)});
    json.field("decisions", figures.decisions).close_object();
  }
  json.close_list().close_object();
  return json.text();
}

std::string simulated_jobs_to_table(const SimulatedJobs& simulated) {
  Table table({"policy", "mean completion", "mean slow-down", "median", "95 %",
               "jobs in the system", "all done after", "decisions"});
  for (const auto& [decider, run] : simulated.runs) {
    const JobsRun figures = figures_of(run, 0);
    const auto [summary, p95] = slowdown_figures(figures);
    table.add({decider, to_text(nanoseconds_of(figures.mean_completion_ns)),
               fmt::format("{:.2f}", summary.mean), fmt::format("{:.2f}", summary.median),
               fmt::format("{:.2f}", p95),
               in_system_to_text(figures.mean_jobs_in_system, figures.most_jobs_in_system),
               to_text(run.makespan), fmt::format("{}", figures.decisions)});
  }
  return load_to_text(simulated.load) + table.text();
}

std::string real_jobs_to_json(const Cluster& cluster, const CompareJobsOptions& options,
                              const std::optional<LoadReport>& load, const JobsComparison& result,
                              std::optional<int64_t> observations) {
  JsonWriter json(3);
  json.open_object().field("schema_version", 2).field("machine", cluster.machine().name());
  json.field("runtime", "local").field("seed", fmt::format("{}", options.turns.seed));
  add_load(json, load);
  json.field("unknown_load", options.unknown_load.share);
  json.field("counter_reads", result.counter_reads);
  if (observations) json.field("observations", *observations);
  json.key("results").open_list();
  for (const JobsRow& row : result.rows) {
    const std::vector<double> slowdowns = row.slowdowns();
    const Summary slowdown = summary_of(row.figures(&JobsRun::mean_slowdown));
    const Summary completion = summary_of(row.figures(&JobsRun::mean_completion_ns));
    const Summary ratio = summary_of(row.ratios_to(result.rows[0]));
    json.open_object().field("policy", row.decider);
    json.field("repeats", static_cast<int64_t>(row.runs.size()));
    json.field("mean_completion_ns", completion.mean);
    json.field("mean_completion_half_interval_ns", completion.half_interval);
    json.field("mean_slowdown", slowdown.mean);
    json.field("mean_slowdown_half_interval", slowdown.half_interval);
    json.field("median_slowdown", sample_quantile(slowdowns, 0.5));
    json.field("slowdown_p95", sample_quantile(slowdowns, 0.95));
    json.field("over_first", ratio.mean).field("over_first_half_interval", ratio.half_interval);
    json.field("makespan_ns", summary_of(row.figures(&JobsRun::makespan_ns)).mean);
    json.field("mean_jobs_in_system", summary_of(row.figures(&JobsRun::mean_jobs_in_system)).mean);
    json.field("most_jobs_in_system",
               int64_t{std::llround(summary_of(row.figures(&JobsRun::most_jobs_in_system)).most)});
    json.field("decision_median_ns", sample_quantile(row.decision_ns, 0.5));
    json.field("decision_p99_ns", sample_quantile(row.decision_ns, 0.99));
    if (row.verified) {
      json.key("verified").open_object().field("good", row.verified->good);
      json.field("values", row.verified->values).field("worst", row.verified->worst);
      json.close_object();
    }
    json.key("runs").open_list();
    for (const JobsRun& run : row.runs) {
      json.open_object().field("turn", run.turn).field("mean_slowdown", run.mean_slowdown);
      json.field("mean_completion_ns", run.mean_completion_ns);
      json.field("makespan_ns", run.makespan_ns).field("decisions", run.decisions);
      json.field("mean_jobs_in_system", run.mean_jobs_in_system);
      json.field("most_jobs_in_system", int64_t{std::llround(run.most_jobs_in_system)});
      json.key("completions_ns").open_list();
      for (const int64_t time : run.completions_ns) json.value(time);
      json.close_list().key("slowdowns").open_list();
      for (const double value : run.slowdowns) json.value(value);
      json.close_list().close_object();
    }
    json.close_list().close_object();
  }
  json.close_list().close_object();
  return json.text();
}

std::string real_jobs_to_table(const Cluster& cluster, const std::optional<LoadReport>& load,
                               const JobsComparison& result) {
  std::string text = fmt::format(
      "machine {}, run for real on this host; intervals of 95 % over {} turns with arrivals of "
      "their own\n",
      cluster.machine().name(), result.rows[0].runs.size());
  text += load_to_text(load);
  Table table({"policy", "mean completion", "mean slow-down", "median", "95 %",
               "over " + result.rows[0].decider, "jobs in the system", "decision", "99 %"});
  for (const JobsRow& row : result.rows) {
    const std::vector<double> slowdowns = row.slowdowns();
    table.add({row.decider,
               to_text(nanoseconds_of(summary_of(row.figures(&JobsRun::mean_completion_ns)).mean)),
               plus_minus(summary_of(row.figures(&JobsRun::mean_slowdown)), 2),
               fmt::format("{:.2f}", sample_quantile(slowdowns, 0.5)),
               fmt::format("{:.2f}", sample_quantile(slowdowns, 0.95)),
               plus_minus(summary_of(row.ratios_to(result.rows[0])), 3),
               in_system_to_text(summary_of(row.figures(&JobsRun::mean_jobs_in_system)).mean,
                                 summary_of(row.figures(&JobsRun::most_jobs_in_system)).most),
               to_text(nanoseconds_of(sample_quantile(row.decision_ns, 0.5))),
               to_text(nanoseconds_of(sample_quantile(row.decision_ns, 0.99)))});
  }
  text += table.text();
  for (const JobsRow& row : result.rows) {
    if (!row.verified) continue;
    text += fmt::format(
        "{}: {} values of its first run {} the reference (worst {:.2g} of {:.2g}, "
        "{})\n",
        row.decider, row.verified->values, row.verified->good ? "equal" : "DIFFER from",
        row.verified->worst, row.verified->allowed, row.verified->worst_value);
  }
  return text;
}

}  // namespace tutti
