// A graph run by an online policy: one job of the engine of jobs (tutti/runtime/local/jobs), with
// queues of any length. Keeps the engine's threads and memory between runs.

#ifndef TUTTI_RUNTIME_LOCAL_RUN_POLICY_RUN_H_
#define TUTTI_RUNTIME_LOCAL_RUN_POLICY_RUN_H_

#include <memory>
#include <vector>

#include "tutti/plan/policy.h"
#include "tutti/runtime/local/events.h"
#include "tutti/runtime/local/jobs/engine.h"
#include "tutti/runtime/local/local.h"

namespace tutti {

class PolicyRun {
 public:
  // Keeps references.
  PolicyRun(const Machine& machine, const OpTable& ops, Hardware& hardware);
  ~PolicyRun();

  // As LocalRuntime::run_online.
  Result<Trace> run(const Problem& problem, Policy& policy, const LocalOptions& options);
  // Of the last run; see LocalRuntime.
  const Trace& trace() const { return trace_; }
  std::vector<OpEvents> events() const;
  std::vector<SleepEvent> sleeps() const;
  Result<std::vector<std::byte>> result(ValueId value) const;
  int64_t high_water(MemoryId memory) const { return engine_.memories().pool(memory).high_water(); }
  // Gives back what the last run left.
  void forget() { run_.reset(); }

 private:
  Cluster cluster_;
  JobEngine engine_;
  std::shared_ptr<JobRun> run_;
  Trace trace_;
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_LOCAL_RUN_POLICY_RUN_H_
