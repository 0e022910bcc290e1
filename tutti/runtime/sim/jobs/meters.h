// Meters watch a simulated cluster's resources: their use from one decision to the next, and the
// noisy counters that are published of it.
//
// One object serves one simulation.

#ifndef TUTTI_RUNTIME_SIM_JOBS_METERS_H_
#define TUTTI_RUNTIME_SIM_JOBS_METERS_H_

#include <memory>
#include <span>
#include <vector>

#include "tutti/base/random.h"
#include "tutti/plan/world/cluster.h"
#include "tutti/runtime/sim/jobs/options.h"
#include "tutti/runtime/sim/jobs/shares.h"
#include "tutti/telemetry/sampler.h"
#include "tutti/telemetry/simulated.h"

namespace tutti {

class Meters {
 public:
  Meters(const Cluster& cluster, const JobSimOptions& options, std::span<const double> capacities);

  void reset(uint64_t seed);

  // That much time passes with these rates.
  void pass(Duration time, std::span<const double> used, std::span<const uint8_t> full);
  // The interval ends: keeps what it came to and begins a new one. An empty interval changes
  // nothing. With counters: what they say of it.
  void close(std::vector<CounterReading>& readings);

  // The truth: mean use in the last closed interval of a resource, a share of what it really
  // carries. Of a CPU, the mean over its cores; of the machine, over its root complexes. 0 for what
  // is not limited.
  double utilisation(const Resource& resource) const;

 private:
  double value_of(const Counter& counter) const;
  double waiting(const Resource& resource) const;

  const Cluster& cluster_;
  const JobSimOptions& options_;
  std::vector<double> capacities_;
  Rng rng_{0};
  double elapsed_ = 0;            // ns of the interval that is open
  std::vector<double> drawn_;     // by resource: rate times ns
  std::vector<double> full_;      // ns
  std::vector<double> mean_use_;  // of the last interval: rates
  std::vector<double> mean_full_;
  std::vector<double> scale_;  // by counter: the error of one reading
  SimulatedSource* source_ = nullptr;
  std::unique_ptr<Sampler> sampler_;
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_SIM_JOBS_METERS_H_
