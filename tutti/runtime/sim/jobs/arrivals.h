// Streams of jobs: when which job comes. By chance (Poisson, bursts), or as a file says.

#ifndef TUTTI_RUNTIME_SIM_JOBS_ARRIVALS_H_
#define TUTTI_RUNTIME_SIM_JOBS_ARRIVALS_H_

#include <string>
#include <vector>

#include "tutti/base/file/source.h"
#include "tutti/plan/world/cluster.h"

namespace tutti {

using JobList = std::vector<std::shared_ptr<const Job>>;

// Adds each graph to the cluster. Fails as Cluster::add_job does.
Result<JobList> add_jobs(Cluster& cluster, std::vector<Graph> graphs);

struct ArrivalSpec {
  enum class Process : uint8_t {
    poisson,  // alone, at exponential intervals
    bursts,   // several at a time; how many is geometric, four on average
  };
  Process process = Process::poisson;
  // On average; above 0. For a load: that share of find_saturation's rate
  // (tutti/runtime/sim/jobs/saturation.h).
  double jobs_per_s = 0;
  int jobs = 20;
};

// Jobs of the list by chance. With the same seed and another rate: the same jobs in the same order,
// at times scaled by it.
std::vector<Arrival> draw_arrivals(const JobList& jobs, const ArrivalSpec& spec, uint64_t seed);

// A file of arrivals: [[arrival]] with time_ns and job, by rising time; docs/formats/arrivals.md.
struct NamedArrival {
  Duration time{0};
  std::string job{};
  int line = 0;
};
Result<std::vector<NamedArrival>> read_arrivals(Source& source);

}  // namespace tutti

#endif  // TUTTI_RUNTIME_SIM_JOBS_ARRIVALS_H_
