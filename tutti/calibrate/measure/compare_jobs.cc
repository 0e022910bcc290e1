#include "tutti/calibrate/measure/compare_jobs.h"

#include <algorithm>
#include <memory>

#include "tutti/runtime/sim/jobs/in_system.h"

namespace tutti {

JobsRun figures_of(const JobsRecord& run, int turn) {
  JobsRun made{.turn = turn,
               .makespan_ns = static_cast<double>(run.makespan.count()),
               .decisions = run.decisions};
  const auto count = static_cast<double>(run.jobs.size());
  for (const JobRecord& job : run.jobs) {
    made.slowdowns.push_back(job.slowdown());
    made.completions_ns.push_back(job.completion().count());
    made.mean_slowdown += job.slowdown() / count;
    made.mean_completion_ns += static_cast<double>(job.completion().count()) / count;
  }
  const JobsInSystem in_system = jobs_in_system(run.jobs);
  made.mean_jobs_in_system = in_system.mean;
  made.most_jobs_in_system = static_cast<double>(in_system.most);
  return made;
}

std::vector<double> JobsRow::figures(double JobsRun::*which) const {
  std::vector<double> values;
  for (const JobsRun& run : runs) values.push_back(run.*which);
  return values;
}

std::vector<double> JobsRow::slowdowns() const {
  std::vector<double> all;
  for (const JobsRun& run : runs) all.insert(all.end(), run.slowdowns.begin(), run.slowdowns.end());
  std::sort(all.begin(), all.end());
  return all;
}

std::vector<double> JobsRow::ratios_to(const JobsRow& other) const {
  std::vector<double> ratios;
  for (const JobsRun& run : runs) {
    for (const JobsRun& same : other.runs) {
      if (same.turn == run.turn) ratios.push_back(run.mean_slowdown / same.mean_slowdown);
    }
  }
  return ratios;
}

double sample_quantile(std::vector<double> samples, double share) {
  if (samples.empty()) return 0;
  std::sort(samples.begin(), samples.end());
  return samples[static_cast<size_t>(share * static_cast<double>(samples.size() - 1))];
}

Result<JobsComparison> compare_jobs(
    const Cluster& cluster, std::span<const NamedDecider> deciders,
    const std::vector<Counter>& counters, const CounterFeed& feed,
    const std::function<std::vector<Arrival>(uint64_t seed)>& arrivals,
    const CompareJobsOptions& options) {
  const Turns& turns = options.turns;
  RealClusterOptions real_options{.counters = counters,
                                  .feed = &feed,
                                  .unknown_load = options.unknown_load,
                                  .input_seed = turns.seed,
                                  .stop = turns.stop};
  int loaded_turn = -1;
  std::string running;
  if (options.progress) {
    real_options.progress = [&](int64_t ended, int64_t ops) {
      options.progress(running, loaded_turn, ended, ops);
    };
  }
  auto real = RealCluster::open(cluster, OpTable::standard(), real_options);
  if (!real) return real.error();
  if (const std::string note = (*real)->note(); !note.empty() && options.on_note) {
    options.on_note(note);
  }
  JobsComparison result;
  for (const NamedDecider& one : deciders) result.rows.push_back({one.name});
  Error stopped = failed("stopped before a run had ended");
  std::optional<Error> error;
  const auto measure = [&](const Turn& turn) -> Result<void> {
    const uint64_t seed = turns.seed + static_cast<uint64_t>(turn.turn);
    if (loaded_turn != turn.turn) {
      if (Result<void> loaded = (*real)->load(arrivals(seed)); !loaded) return loaded;
      loaded_turn = turn.turn;
    }
    running = deciders[turn.row].name;
    RecordingDecider decider(deciders[turn.row].make(), result.readings);
    const Result<RealJobsRun> run = (*real)->run(decider, seed);
    if (!run) return Error{run.error().kind, running + ": " + run.error().message};
    JobsRow& row = result.rows[turn.row];
    if (options.verify && !row.verified) {
      const Result<Verified> verified = (*real)->verify_last();
      if (!verified) return verified.error();
      row.verified = *verified;
    }
    if (options.on_run) options.on_run(running, turn, *run);
    if (!turn.counts) return {};
    row.runs.push_back(figures_of(run->run, turn.turn));
    for (const Duration time : run->decision_times)
      row.decision_ns.push_back(static_cast<double>(time.count()));
    return {};
  };
  measure_in_turns(deciders.size(), turns, [&](const Turn& turn) {
    const Result<void> good = measure(turn);
    if (good) return true;
    turns.stop.now() ? stopped = good.error() : error.emplace(good.error());
    return false;
  });
  if (error) return *error;
  std::erase_if(result.rows, [](const JobsRow& row) { return row.runs.empty(); });
  if (result.rows.empty()) return stopped;
  result.counter_reads = feed.reads();
  return result;
}

}  // namespace tutti
