// Streams of jobs: when which job comes. By chance (Poisson, bursts), or as a file says.

#ifndef TUTTI_RUNTIME_SIM_JOBS_ARRIVALS_H_
#define TUTTI_RUNTIME_SIM_JOBS_ARRIVALS_H_

#include <span>
#include <string>
#include <vector>

#include "tutti/base/file/source.h"
#include "tutti/plan/cluster.h"

namespace tutti {

using JobList = std::vector<std::shared_ptr<const Job>>;

// Adds each graph to the cluster. Fails as Cluster::add_job does.
Result<JobList> add_jobs(Cluster& cluster, std::vector<Graph> graphs);

// About how many such jobs per second the cluster can do in the long run: of all ways to divide
// each op between devices, the best by the slots and shared resources it leaves busiest (a linear
// program, solved to about one percent by multiplicative weights; Arora, Hazan, Kale 2012).
// Operands are taken to come from the host's memory; reconfiguration, dependencies and noise are
// left out.
double most_jobs_per_s(const Cluster& cluster, std::span<const std::shared_ptr<const Job>> jobs);

// The share of it that a good decider was seen to keep up with, on the cluster of
// tutti/plan/default_cluster.h.
inline constexpr double kAttainable = 0.6;

struct ArrivalSpec {
  enum class Process : uint8_t {
    poisson,  // alone, at exponential intervals
    bursts,   // several at a time; how many is geometric
  };
  Process process = Process::poisson;
  double load = 0.6;  // 1: kAttainable of most_jobs_per_s
  int jobs = 20;
  double mean_burst = 4;
  double most_jobs_per_s = 0;  // if it is known already; 0: worked out
};

// Jobs of the list by chance.
std::vector<Arrival> draw_arrivals(const Cluster& cluster, const JobList& jobs,
                                   const ArrivalSpec& spec, uint64_t seed);

// A file of arrivals: [[arrival]] with time_ns and job, by rising time; docs/formats/arrivals.md.
struct NamedArrival {
  Duration time{0};
  std::string job{};
  int line = 0;
};
Result<std::vector<NamedArrival>> read_arrivals(Source& source);

}  // namespace tutti

#endif  // TUTTI_RUNTIME_SIM_JOBS_ARRIVALS_H_
