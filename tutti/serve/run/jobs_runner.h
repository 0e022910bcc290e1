// The Runner of a server: jobs enter a JobWorld, real or simulated, as soon as they get a place,
// and share its devices. A job that fails fails alone; one that is cancelled gets its answer at
// once, and those of its ops that run end. Graphs of commands run for real on slots of their own.

#ifndef TUTTI_SERVE_RUN_JOBS_RUNNER_H_
#define TUTTI_SERVE_RUN_JOBS_RUNNER_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tutti/plan/world/decider.h"
#include "tutti/serve/run/command_runner.h"
#include "tutti/serve/run/job_world.h"

namespace tutti {

// Makes a decider for a cluster that outlives it and has those counters.
using MakeDecider = std::function<Result<std::unique_ptr<Decider>>(
    const Cluster& cluster, const std::vector<Counter>& counters)>;

struct JobsRunnerOptions {
  std::string policy{};  // what the decider is called
  MakeDecider decider{};
  // Made of Select and Place: knows ops that must share a device, and looks at one job at a time.
  bool one_job_at_a_look = false;
  // Of a job, for other deciders: they look at many ops for each decision, and cannot be stopped
  // meanwhile.
  int32_t most_ops = 10'000;
  int places = 1;  // jobs at once, at most
  uint64_t seed = 1;
};

// Keeps a reference to the shares. `commands` is null if the world cannot run programs: they are
// simulated as other ops then. Fails as the decider's making does.
Result<std::unique_ptr<Runner>> make_jobs_runner(std::unique_ptr<JobWorld> world,
                                                 JobsRunnerOptions options, ClientShares& shares,
                                                 std::unique_ptr<CommandRunner> commands = nullptr);

}  // namespace tutti

#endif  // TUTTI_SERVE_RUN_JOBS_RUNNER_H_
