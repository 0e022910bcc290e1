// The saturation of a cluster: the highest rate of arrivals that it keeps up with, in simulation,
// with the shared resources, hidden load, queues and decision delay that are simulated. A load is a
// share of it.
//
// Whether a cluster keeps up with a rate is tested by one run of Poisson arrivals, which ends with
// the time in which all of them come; each half of it has half of them, so that the rate of
// the run is that which is tested. The second half is divided into 20 batches of equal length
// (Schmeiser, Batch Size Effects in the Analysis of Simulation Output, Operations Research 30(3),
// 1982: 10 to 30), and a least-squares line is put through the mean numbers of jobs in the system.
// The rate is stable unless
//
// - the line's slope is above 0, at 1 percent by Student's t with the standard error that the
//   batches have about the line; or
// - more than an eighth of all jobs were in the system at once. The run ends then: it saves the
//   time for rates that are far too high.
//
// The slope has a meaning: divided by the rate it is the share of the arriving jobs that is left
// over. A rank test such as Mann and Kendall's would find a trend that means nothing as well.
// Batches next to each other are correlated near saturation, which makes the standard error too
// small; on the other hand 2,000 jobs do not show that a rate is too high by one or two percent.
// All rates are tested with the same jobs in the same order, and intervals that are scaled.

#ifndef TUTTI_RUNTIME_SIM_JOBS_SATURATION_H_
#define TUTTI_RUNTIME_SIM_JOBS_SATURATION_H_

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tutti/base/stop.h"
#include "tutti/plan/world/decider.h"
#include "tutti/runtime/sim/jobs/arrivals.h"
#include "tutti/runtime/sim/jobs/options.h"

namespace tutti {

struct SaturationDecider {
  std::string name;
  std::function<std::unique_ptr<Decider>()> make;
};

struct SaturationSettings {
  int jobs = 2000;          // of each run; at least a hundred, or the test says little
  double precision = 0.02;  // of the rate
  Stop stop{};
};

struct Saturation {
  double jobs_per_s = 0;  // four significant digits, so that it can be printed and given again
  std::string decider{};  // which keeps up with it
  int runs = 0;
};

// By bisection, for the decider that keeps up with the highest rate. Counters, records and
// measured_delay of the options are ignored. Same arguments: same result. Fails (failed) if it is
// stopped or if a decider fails. Requires jobs and a decider.
Result<Saturation> find_saturation(const Cluster& cluster, const JobList& jobs,
                                   JobSimOptions options,
                                   std::span<const SaturationDecider> deciders, uint64_t seed,
                                   const SaturationSettings& settings = {});

// Whether a line through the samples rises, by the first test above. Requires three samples.
bool has_upward_trend(std::span<const double> batch_means);

}  // namespace tutti

#endif  // TUTTI_RUNTIME_SIM_JOBS_SATURATION_H_
