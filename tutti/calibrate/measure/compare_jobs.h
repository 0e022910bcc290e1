// Deciders compared by real runs on this host, in turns. Each turn has its own arrivals, which
// every decider gets.

#ifndef TUTTI_CALIBRATE_MEASURE_COMPARE_JOBS_H_
#define TUTTI_CALIBRATE_MEASURE_COMPARE_JOBS_H_

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tutti/calibrate/measure/turns.h"
#include "tutti/policy/symphony/adapt.h"
#include "tutti/runtime/arriving/real_cluster.h"
#include "tutti/search/deciders.h"

namespace tutti {

struct CompareJobsOptions {
  Turns turns{.warm_up = 1, .repeats = 5};
  bool verify = false;  // the first run of each decider, with the reference
  HiddenLoadSpec unknown_load{};
  // A remark about how devices were bound, before the runs.
  std::function<void(const std::string& note)> on_note{};
  // Called now and then during a run.
  std::function<void(const std::string& decider, int turn, int64_t ended, int64_t ops)> progress{};
  // A run has ended; warm-ups do not count.
  std::function<void(const std::string& decider, const Turn& turn, const RealJobsRun& run)>
      on_run{};
};

// One decider in one turn.
struct JobsRun {
  int turn = 0;
  double mean_slowdown = 0;
  double mean_completion_ns = 0;
  double makespan_ns = 0;
  int64_t decisions = 0;
  double mean_jobs_in_system = 0;  // over time
  double most_jobs_in_system = 0;
  std::vector<int64_t> completions_ns{};  // by job
  std::vector<double> slowdowns{};
};

// All runs of one decider that count.
struct JobsRow {
  std::string decider;
  std::vector<JobsRun> runs{};
  std::vector<double> decision_ns{};  // of all runs
  std::optional<Verified> verified{};

  std::vector<double> figures(double JobsRun::*which) const;  // by run
  std::vector<double> slowdowns() const;                      // of all jobs, ascending
  // Mean slow-downs divided by those of another row in the same turns.
  std::vector<double> ratios_to(const JobsRow& other) const;
};

struct JobsComparison {
  std::vector<JobsRow> rows;
  int64_t counter_reads = 0;
  CounterRecord readings;  // what deciders saw
};

JobsRun figures_of(const JobsRecord& run, int turn);

// The value that a share of the samples does not exceed; 0 without samples.
double sample_quantile(std::vector<double> samples, double share);

// `arrivals` gives those of a turn. Fails as RealCluster does. If it is stopped it returns the runs
// that had ended; fails (failed) if there are none.
Result<JobsComparison> compare_jobs(
    const Cluster& cluster, std::span<const NamedDecider> deciders,
    const std::vector<Counter>& counters, const CounterFeed& feed,
    const std::function<std::vector<Arrival>(uint64_t seed)>& arrivals,
    const CompareJobsOptions& options);

}  // namespace tutti

#endif  // TUTTI_CALIBRATE_MEASURE_COMPARE_JOBS_H_
