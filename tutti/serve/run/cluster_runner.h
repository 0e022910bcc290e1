// A Runner on a simulated cluster: the ops of all jobs that run share one machine, and a decider
// (tutti/plan/world/decider.h) decides about them all. Its Meter believes what the simulated
// counters say.
//
// Simulated time stands still while no job runs, and starts from 0 then. A job's makespan is the
// time from its arrival to its end.

#ifndef TUTTI_SERVE_RUN_CLUSTER_RUNNER_H_
#define TUTTI_SERVE_RUN_CLUSTER_RUNNER_H_

#include <functional>
#include <memory>
#include <vector>

#include "tutti/plan/world/decider.h"
#include "tutti/serve/run/meter.h"
#include "tutti/serve/run/runner.h"

namespace tutti {

struct ServedCluster {
  std::unique_ptr<Runner> runner;
  std::unique_ptr<Meter> meter;
};

// Makes a decider for a cluster that outlives it and has those counters.
using MakeDecider = std::function<Result<std::unique_ptr<Decider>>(
    const Cluster& cluster, const std::vector<Counter>& counters)>;

// `options.policy` is what the decider is called, `make` makes it; `places` jobs share the
// machine. Fails as `make` or Cluster::make does.
Result<ServedCluster> serve_cluster(const Machine& machine, RunnerOptions options, int places,
                                    const MakeDecider& make);

}  // namespace tutti

#endif  // TUTTI_SERVE_RUN_CLUSTER_RUNNER_H_
