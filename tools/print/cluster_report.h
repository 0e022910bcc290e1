// What deciders made of jobs that arrived, simulated or for real, as tables and as JSON.

#ifndef TUTTI_TOOLS_PRINT_CLUSTER_REPORT_H_
#define TUTTI_TOOLS_PRINT_CLUSTER_REPORT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tutti/calibrate/measure/compare_jobs.h"
#include "tutti/runtime/sim/jobs/options.h"
#include "tutti/runtime/sim/jobs/saturation.h"

namespace tutti {

using NamedRun = std::pair<std::string, JobsRecord>;  // of a decider

// How often jobs arrived.
struct LoadReport {
  double load = 0;  // share of the saturation
  Saturation saturation{};

  double jobs_per_s() const { return load * saturation.jobs_per_s; }
};

// One line: the load, and the saturation in digits that --saturation reads as the same number;
// empty without a load.
std::string load_to_text(const std::optional<LoadReport>& load);

// One simulated run of each decider.
struct SimulatedJobs {
  std::optional<LoadReport> load;  // none: arrivals of a file
  JobSimOptions options;
  uint64_t seed = 0;
  std::vector<NamedRun> runs;
};
std::string simulated_jobs_to_json(const Cluster& cluster, const SimulatedJobs& simulated);
std::string simulated_jobs_to_table(const SimulatedJobs& simulated);

// Real runs in turns. `observations`: readings that a belief was fitted to, if any was.
std::string real_jobs_to_json(const Cluster& cluster, const CompareJobsOptions& options,
                              const std::optional<LoadReport>& load, const JobsComparison& result,
                              std::optional<int64_t> observations);
std::string real_jobs_to_table(const Cluster& cluster, const std::optional<LoadReport>& load,
                               const JobsComparison& result);

}  // namespace tutti

#endif  // TUTTI_TOOLS_PRINT_CLUSTER_REPORT_H_
