// What deciders made of jobs that arrived, simulated or for real, as tables and as JSON.

#ifndef TUTTI_TOOLS_PRINT_CLUSTER_REPORT_H_
#define TUTTI_TOOLS_PRINT_CLUSTER_REPORT_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tutti/calibrate/measure/compare_jobs.h"

namespace tutti {

using NamedRun = std::pair<std::string, JobsRecord>;  // of a decider

// One simulated run of each decider.
std::string simulated_jobs_to_json(const Cluster& cluster, uint64_t seed,
                                   const std::vector<NamedRun>& runs);
std::string simulated_jobs_to_table(const std::vector<NamedRun>& runs);

// Real runs in turns. `observations`: readings that a belief was fitted to, if any was.
std::string real_jobs_to_json(const Cluster& cluster, const CompareJobsOptions& options,
                              const JobsComparison& result, std::optional<int64_t> observations);
std::string real_jobs_to_table(const Cluster& cluster, const JobsComparison& result);

}  // namespace tutti

#endif  // TUTTI_TOOLS_PRINT_CLUSTER_REPORT_H_
