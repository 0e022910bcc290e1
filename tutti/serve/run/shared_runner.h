// A Runner of real jobs that share this host: a Decider (tutti/plan/world/decider.h) decides about
// the ops of all jobs. A job enters the running engine (tutti/runtime/local/jobs/engine.h) as soon
// as it is given to the runner, and its end is reported as soon as it has ended.

#ifndef TUTTI_SERVE_RUN_SHARED_RUNNER_H_
#define TUTTI_SERVE_RUN_SHARED_RUNNER_H_

#include <memory>
#include <vector>

#include "tutti/serve/run/cluster_runner.h"
#include "tutti/serve/run/runner.h"
#include "tutti/telemetry/counter_feed.h"

namespace tutti {

struct SharedRunnerOptions {
  int places = 1;  // jobs at once, at most
  // Of a job. Deciders look at many ops for each decision, and cannot be stopped meanwhile.
  int32_t most_ops = 10'000;
  int32_t queue_depth = 2;  // of each device; see JobEngineOptions
  // Counters that the decider sees, and their source; see JobEngineOptions.
  std::vector<Counter> counters{};
  std::unique_ptr<CounterFeed> feed{};
  OpTable ops = OpTable::standard();
};

// `options.policy` is what the decider is called, `make` makes it. Fails as `make` and
// Cluster::make do, and if this host has not the machine's devices.
//
// Refuses jobs with ops that must share a device, with too many ops, and commands. A job that is
// cancelled gets its answer at once: ops of it that run end, others do not start. A job that fails
// fails alone.
Result<std::unique_ptr<Runner>> make_shared_runner(const Machine& machine, RunnerOptions options,
                                                   SharedRunnerOptions shared,
                                                   const MakeDecider& make);

}  // namespace tutti

#endif  // TUTTI_SERVE_RUN_SHARED_RUNNER_H_
