// A Runner of real jobs that share this host: a decider (tutti/plan/decider.h) decides about
// the ops of all jobs of a round. Jobs that wait form the next round. A job's end is reported as
// soon as it has ended, while others of its round go on.
//
// In rounds, because the engine runs one graph that it knows from the beginning: a job cannot join
// those that run. So towards the end of a round a device may be idle though jobs wait.

#ifndef TUTTI_SERVE_RUN_ROUNDS_RUNNER_H_
#define TUTTI_SERVE_RUN_ROUNDS_RUNNER_H_

#include <chrono>
#include <memory>
#include <vector>

#include "tutti/serve/run/cluster_runner.h"
#include "tutti/serve/run/runner.h"
#include "tutti/telemetry/counter_feed.h"

namespace tutti {

struct RoundsOptions {
  int places = 1;  // jobs of a round at most
  // Of a job. Deciders look at many ops for each decision, and cannot be stopped meanwhile.
  int32_t most_ops = 10'000;
  // How long jobs wait for those that will follow the ones of the last round.
  std::chrono::milliseconds gather{5};
  // Counters that the decider sees, and their source; see RealClusterOptions.
  std::vector<Counter> counters{};
  std::unique_ptr<CounterFeed> feed{};
  OpTable ops = OpTable::standard();
};

// `options.policy` is what the decider is called, `make` makes it. Fails as `make`,
// Cluster::make and RealCluster::open do.
//
// Refuses jobs with ops that must share a device, with too many ops, and commands. A job that is
// cancelled gets its answer at once; its ops go on, unobserved, until no job of the round is left.
// If a round fails, those of its jobs that have not ended are run again one by one, so that only
// the one at fault fails.
Result<std::unique_ptr<Runner>> make_rounds_runner(const Machine& machine, RunnerOptions options,
                                                   RoundsOptions rounds, const MakeDecider& make);

}  // namespace tutti

#endif  // TUTTI_SERVE_RUN_ROUNDS_RUNNER_H_
