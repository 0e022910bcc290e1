#include "tools/cluster_real.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "tools/adapt.h"
#include "tools/compare_real.h"
#include "tools/inputs.h"
#include "tools/table.h"
#include "tutti/base/file/json_writer.h"
#include "tutti/base/statistics.h"

namespace tutti {
namespace {

RealJobsRun run_of(const ClusterRun& run, int turn) {
  RealJobsRun made{.turn = turn,
                   .makespan_ns = static_cast<double>(run.makespan.count()),
                   .decisions = run.decisions};
  const auto count = static_cast<double>(run.jobs.size());
  for (const JobRecord& job : run.jobs) {
    made.slowdowns.push_back(job.slowdown());
    made.completions_ns.push_back(job.completion().count());
    made.mean_slowdown += job.slowdown() / count;
    made.mean_completion_ns += static_cast<double>(job.completion().count()) / count;
  }
  return made;
}

std::vector<double> means_of(const RealJobsRow& row, double RealJobsRun::*which) {
  std::vector<double> values;
  for (const RealJobsRun& run : row.runs) values.push_back(run.*which);
  return values;
}

std::vector<double> all_slowdowns(const RealJobsRow& row) {
  std::vector<double> all;
  for (const RealJobsRun& run : row.runs)
    all.insert(all.end(), run.slowdowns.begin(), run.slowdowns.end());
  std::sort(all.begin(), all.end());
  return all;
}

double quantile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(share * static_cast<double>(values.size() - 1))];
}

// Slow-downs over those of another row in the same turns.
std::vector<double> ratios_to(const RealJobsRow& row, const RealJobsRow& other) {
  std::vector<double> ratios;
  for (const RealJobsRun& run : row.runs) {
    for (const RealJobsRun& same : other.runs) {
      if (same.turn == run.turn) ratios.push_back(run.mean_slowdown / same.mean_slowdown);
    }
  }
  return ratios;
}

std::string plus_minus(const Summary& summary, int digits) {
  if (summary.count < 2) return fmt::format("{:.{}f}", summary.mean, digits);
  return fmt::format("{:.{}f} ± {:.{}f}", summary.mean, digits, summary.half_interval, digits);
}

}  // namespace

Result<RealJobsResult> compare_jobs_for_real(
    const Cluster& cluster, const std::vector<NamedDispatcher>& dispatchers,
    const std::vector<Counter>& counters, const CounterFeed& feed,
    const std::function<std::vector<Arrival>(uint64_t seed)>& arrivals,
    const RealJobsSettings& settings) {
  RealClusterOptions options{.counters = counters,
                             .feed = &feed,
                             .unknown_load = settings.unknown_load,
                             .input_seed = settings.seed,
                             .stop = settings.stop};
  const int turns = settings.warm_up + settings.repeats;
  int turn = 0;
  std::string who;
  if (shows_progress()) {
    options.progress = [&](int64_t ended, int64_t ops) {
      fmt::print(stderr, "\r\033[Kturn {} of {}, {}: {} of {} ops", turn + 1, turns, who, ended,
                 ops);
    };
  }
  auto real = RealCluster::open(cluster, OpTable::standard(), options);
  if (!real) return real.error();
  if (const std::string note = (*real)->note(); !note.empty()) {
    fmt::print(stderr, "tutti: {}\n", note);
  }
  RealJobsResult result;
  for (const NamedDispatcher& dispatcher : dispatchers) result.rows.push_back({dispatcher.name});
  CounterRecord record;
  std::optional<Error> stopped;
  for (; turn < turns && !stopped; ++turn) {
    const uint64_t seed = settings.seed + static_cast<uint64_t>(turn);
    if (Result<void> loaded = (*real)->load(arrivals(seed)); !loaded) return loaded.error();
    for (const size_t at : order_of_turn(dispatchers.size(), settings.seed, turn)) {
      who = dispatchers[at].name;
      RealJobsRow& row = result.rows[at];
      RecordingDispatcher dispatcher(dispatchers[at].make(), record);
      const Result<RealClusterRun> run = (*real)->run(dispatcher, seed);
      if (shows_progress()) fmt::print(stderr, "\r\033[K");
      if (!run && settings.stop.now()) {
        stopped = run.error();
        break;
      }
      if (!run) return Error{run.error().kind, fmt::format("{}: {}", who, run.error().message)};
      if (settings.verify && !row.verified) {
        const Result<Verified> verified = (*real)->verify_last();
        if (!verified) return verified.error();
        row.verified = *verified;
      }
      if (turn < settings.warm_up) continue;
      row.runs.push_back(run_of(run->run, turn));
      for (const Duration time : run->decision_times)
        row.decision_ns.push_back(static_cast<double>(time.count()));
    }
  }
  std::erase_if(result.rows, [](const RealJobsRow& row) { return row.runs.empty(); });
  if (result.rows.empty() && stopped) return *stopped;
  result.counter_reads = feed.reads();
  if (!settings.adapt.empty()) {
    const auto adapted =
        adapt_belief(settings.adapt, settings.adapted, cluster, counters, record, settings.seed);
    if (!adapted) return adapted.error();
    result.observations = *adapted;
  }
  return result;
}

std::string real_jobs_to_json(const Cluster& cluster, const RealJobsSettings& settings,
                              const RealJobsResult& result) {
  JsonWriter json(3);
  json.open_object().field("schema_version", 1).field("machine", cluster.machine().name());
  json.field("runtime", "local").field("seed", fmt::format("{}", settings.seed));
  json.field("unknown_load", settings.unknown_load.share);
  json.field("counter_reads", result.counter_reads);
  if (!settings.adapt.empty()) json.field("observations", result.observations);
  json.key("results").open_list();
  for (const RealJobsRow& row : result.rows) {
    const std::vector<double> slowdowns = all_slowdowns(row);
    const Summary slowdown = summary_of(means_of(row, &RealJobsRun::mean_slowdown));
    const Summary completion = summary_of(means_of(row, &RealJobsRun::mean_completion_ns));
    const Summary ratio = summary_of(ratios_to(row, result.rows[0]));
    json.open_object().field("policy", row.policy);
    json.field("repeats", static_cast<int64_t>(row.runs.size()));
    json.field("mean_completion_ns", completion.mean);
    json.field("mean_completion_half_interval_ns", completion.half_interval);
    json.field("mean_slowdown", slowdown.mean);
    json.field("mean_slowdown_half_interval", slowdown.half_interval);
    json.field("median_slowdown", quantile(slowdowns, 0.5));
    json.field("slowdown_p95", quantile(slowdowns, 0.95));
    json.field("over_first", ratio.mean).field("over_first_half_interval", ratio.half_interval);
    json.field("makespan_ns", summary_of(means_of(row, &RealJobsRun::makespan_ns)).mean);
    json.field("decision_median_ns", quantile(row.decision_ns, 0.5));
    json.field("decision_p99_ns", quantile(row.decision_ns, 0.99));
    if (row.verified) {
      json.key("verified").open_object().field("good", row.verified->good);
      json.field("values", row.verified->values).field("worst", row.verified->worst);
      json.close_object();
    }
    json.key("runs").open_list();
    for (const RealJobsRun& run : row.runs) {
      json.open_object().field("turn", run.turn).field("mean_slowdown", run.mean_slowdown);
      json.field("mean_completion_ns", run.mean_completion_ns);
      json.field("makespan_ns", run.makespan_ns).field("decisions", run.decisions);
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

std::string real_jobs_to_table(const Cluster& cluster, const RealJobsResult& result) {
  std::string text = fmt::format(
      "machine {}, run for real on this host; intervals of 95 % over {} turns with arrivals of "
      "their own\n",
      cluster.machine().name(), result.rows[0].runs.size());
  Table table({"policy", "mean completion", "mean slow-down", "median", "95 %",
               "over " + result.rows[0].policy, "decision", "99 %"});
  for (const RealJobsRow& row : result.rows) {
    const std::vector<double> slowdowns = all_slowdowns(row);
    table.add(
        {row.policy,
         to_text(nanoseconds_of(summary_of(means_of(row, &RealJobsRun::mean_completion_ns)).mean)),
         plus_minus(summary_of(means_of(row, &RealJobsRun::mean_slowdown)), 2),
         fmt::format("{:.2f}", quantile(slowdowns, 0.5)),
         fmt::format("{:.2f}", quantile(slowdowns, 0.95)),
         plus_minus(summary_of(ratios_to(row, result.rows[0])), 3),
         to_text(nanoseconds_of(quantile(row.decision_ns, 0.5))),
         to_text(nanoseconds_of(quantile(row.decision_ns, 0.99)))});
  }
  text += table.text();
  for (const RealJobsRow& row : result.rows) {
    if (!row.verified) continue;
    text += fmt::format(
        "{}: {} values of its first run {} the reference (worst {:.2g} of {:.2g}, "
        "{})\n",
        row.policy, row.verified->values, row.verified->good ? "equal" : "DIFFER from",
        row.verified->worst, row.verified->allowed, row.verified->worst_value);
  }
  return text;
}

}  // namespace tutti
