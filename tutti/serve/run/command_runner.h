// Runs graphs whose ops are programs, one graph at a time: on threads and slots of their own, noted
// in the job's folder, so that programs that are done are not run again (tutti/runtime/command).

#ifndef TUTTI_SERVE_RUN_COMMAND_RUNNER_H_
#define TUTTI_SERVE_RUN_COMMAND_RUNNER_H_

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "tutti/costs/costs.h"
#include "tutti/plan/policy.h"
#include "tutti/serve/run/runner.h"

namespace tutti {

struct CommandRunnerOptions {
  MakePolicy policy{};
  std::string policy_name{};
  uint64_t seed = 1;
  CostSpec costs{};
  // Null: the machine of all jobs. Its devices are the first of that machine, with slots of their
  // own.
  std::shared_ptr<const Machine> machine{};
  // Names of variables that commands get in addition to the usual ones
  // (tutti/runtime/command/environment.h).
  std::vector<std::string> environment{};
};

class CommandRunner {
 public:
  // Keeps references.
  CommandRunner(CommandRunnerOptions options, const Machine& machine, ClientShares& shares);

  // Fails with a sentence if the graph has ops without a command or no device can run it.
  Result<PreparedJob> prepare(Graph graph) const;
  // As Runner::run. Waits while another graph of commands runs.
  Result<RunReport> run(const PreparedJob& prepared, const RunContext& context, DecisionLog& log);

 private:
  const Machine& machine() const { return options_.machine ? *options_.machine : machine_; }

  CommandRunnerOptions options_;
  const Machine& machine_;
  ClientShares& shares_;
  std::atomic<bool> busy_{false};  // one at a time
};

// Borrows both.
Result<Problem> problem_of_commands(const Graph& graph, const Machine& machine, CostSpec spec);

}  // namespace tutti

#endif  // TUTTI_SERVE_RUN_COMMAND_RUNNER_H_
