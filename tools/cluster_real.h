// Dispatchers compared by real runs on this host: turn by turn, each turn with arrivals of its own
// that all dispatchers get, in an order that is drawn anew.

#ifndef TUTTI_TOOLS_CLUSTER_REAL_H_
#define TUTTI_TOOLS_CLUSTER_REAL_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tools/dispatchers.h"
#include "tutti/base/stop.h"
#include "tutti/runtime/arriving/real_cluster.h"

namespace tutti {

struct RealJobsSettings {
  int repeats = 5;
  int warm_up = 1;
  uint64_t seed = 1;
  bool verify = false;  // every dispatcher's first run, with the reference
  Stop stop{};
  HiddenLoadSpec unknown_load{};
  // The belief of this model is fitted to what counters say in the runs, and written to `adapted`.
  std::string adapt{};
  std::string adapted{};
};

// One dispatcher in one turn.
struct RealJobsRun {
  int turn = 0;
  double mean_slowdown = 0;
  double mean_completion_ns = 0;
  double makespan_ns = 0;
  int64_t decisions = 0;
  std::vector<int64_t> completions_ns{};  // by job
  std::vector<double> slowdowns{};
};

struct RealJobsRow {
  std::string policy;
  std::vector<RealJobsRun> runs{};
  std::vector<double> decision_ns{};  // of all runs
  std::optional<Verified> verified{};
};

struct RealJobsResult {
  std::vector<RealJobsRow> rows;
  int64_t counter_reads = 0;
  int64_t observations = 0;  // that the belief was fitted to
};

// `arrivals` gives those of a turn. Fails as RealCluster does; if it is stopped, with what there is
// so far, unless that is nothing.
Result<RealJobsResult> compare_jobs_for_real(
    const Cluster& cluster, const std::vector<NamedDispatcher>& dispatchers,
    const std::vector<Counter>& counters, const CounterFeed& feed,
    const std::function<std::vector<Arrival>(uint64_t seed)>& arrivals,
    const RealJobsSettings& settings);

std::string real_jobs_to_json(const Cluster& cluster, const RealJobsSettings& settings,
                              const RealJobsResult& result);
std::string real_jobs_to_table(const Cluster& cluster, const RealJobsResult& result);

}  // namespace tutti

#endif  // TUTTI_TOOLS_CLUSTER_REAL_H_
