// A Runner runs the graphs of jobs, one at a time in each of its places, asking an online policy as
// it goes: for real on this host (local), or in the simulator.

#ifndef TUTTI_SERVE_RUN_RUNNER_H_
#define TUTTI_SERVE_RUN_RUNNER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tutti/base/stop.h"
#include "tutti/costs/costs.h"
#include "tutti/graph/graph.h"
#include "tutti/machine/machine.h"
#include "tutti/runtime/local/op_table.h"
#include "tutti/serve/run/decisions.h"
#include "tutti/serve/run/job_folder.h"

namespace tutti {

struct RunnerOptions {
  std::string policy{};  // any that can be asked during a run
  uint64_t seed = 1;
  CostSpec costs{};
  // Where graphs of commands run for real; null: on the machine of all jobs. Its devices are the
  // first of that machine, with slots of their own.
  std::shared_ptr<const Machine> command_machine{};
  // Names of variables that commands get in addition to the usual ones
  // (tutti/runtime/command/environment.h).
  std::vector<std::string> environment{};
};

// One run of one job.
struct RunContext {
  std::string job;       // its name, for the log
  std::string folder{};  // a run continues from what an earlier run of the same job left there
  JobIdentity identity{};
  Unnamed unnamed = Unnamed::moved_aside;
  std::function<void(const std::string& sentence)> note{};  // for the operator
  int place = 0;                                            // from 0; one run at a time in each
  Stop stop{};
};

struct RunReport {
  Duration makespan{0};
  std::vector<double> busy_share{};  // by device, over slots and makespan; empty: unknown
};

class Runner {
 public:
  virtual ~Runner() = default;

  virtual const char* name() const = 0;    // "local", "sim", "cluster"
  virtual std::string policy() const = 0;  // its name
  virtual int places() const = 0;
  // Fails with a sentence if the graph cannot be run here. Any thread may ask.
  virtual Result<void> check(const Graph& graph) const = 0;
  // Fails soon after it was stopped.
  virtual Result<RunReport> run(const Graph& graph, const RunContext& context,
                                DecisionLog& log) = 0;
};

// Fails with a sentence if no device of the machine can run some op.
Result<void> check_runnable(const Graph& graph, const Machine& machine, const CostSpec& costs);
// For real runs: fails with a sentence if no device has code for some op, or if an input cannot be
// filled.
Result<void> check_code(const Graph& graph, const Machine& machine, const OpTable& ops);

// Both keep a reference to the machine, and fail (invalid_input) if there is no such policy, or if
// it cannot be asked during a run; local also if this host has not the machine's devices. Such
// real runs have one place: a policy decides about one graph. Several jobs share the devices in
// tutti/serve/run/rounds_runner.h. Commands of a
// graph are started by real runs alone, and noted in the job's folder, so that those that are done
// are not run again (tutti/runtime/command).
Result<std::unique_ptr<Runner>> make_local_runner(const Machine& machine, RunnerOptions options);
Result<std::unique_ptr<Runner>> make_sim_runner(const Machine& machine, RunnerOptions options,
                                                int places);

}  // namespace tutti

#endif  // TUTTI_SERVE_RUN_RUNNER_H_
