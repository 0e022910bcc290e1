// Jobs that arrive on real devices: what runtime/sim/jobs simulates, done by the local engine on
// this host's cores and GPUs, with a decider that sees real counters. Arrivals are those of a
// wall clock.
//
//   auto real = RealCluster::open(cluster, OpTable::standard(), options);
//   (*real)->load(arrivals);
//   const Result<RealJobsRun> run = (*real)->run(decider, seed);
//
// Runs of the same arrivals can be repeated with other deciders; inputs stay where they are.

#ifndef TUTTI_RUNTIME_ARRIVING_REAL_CLUSTER_H_
#define TUTTI_RUNTIME_ARRIVING_REAL_CLUSTER_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tutti/runtime/arriving/hidden_load.h"
#include "tutti/runtime/local/jobs/engine.h"
#include "tutti/runtime/local/verify.h"
#include "tutti/telemetry/counter_feed.h"

namespace tutti {

struct RealClusterOptions {
  // What deciders are told, as usual_counters lists it for a machine. A counter that neither the
  // feed nor the run itself provides has readings with a count of 0.
  std::vector<Counter> counters{};
  const CounterFeed* feed = nullptr;
  HiddenLoadSpec unknown_load{};
  int32_t queue_depth = 2;  // of each device; see JobEngineOptions
  uint64_t input_seed = 1;  // of the numbers that jobs compute with
  // Inputs of a job stay in memory for as long as this object lives; false: where jobs do not come
  // again.
  bool keep_inputs = true;
  Stop stop{};
  std::function<void(int64_t ended, int64_t ops)> progress{};  // called now and then
  // A job has ended, whatever becomes of the others. Called by the scheduler: soon done, and no
  // call of the cluster's.
  std::function<void(const JobRecord& job)> ended{};
};

// Ok if jobs of that problem can be run here, code for its ops apart; else a sentence
// (invalid_input): it has no ops, ops that must share a device and a decider that does not know of
// that, or numbers that no kernel knows; (infeasible): an op that fits into no memory.
Result<void> check_arriving(const Problem& problem, bool knows_colocation = false);
// Ok, or a sentence (invalid_input): a device has contexts, which nothing on this host has.
Result<void> check_no_contexts(const Machine& machine);

struct RealJobsRun {
  JobsRecord run;
  std::vector<Duration> decision_times;  // what each decision took
};

class RealCluster {
 public:
  // Binds the cluster's machine to this host. Fails (invalid_input) with a sentence if it has not
  // what the machine asks for, or if that has contexts to configure. The cluster must outlive it.
  static Result<std::unique_ptr<RealCluster>> open(const Cluster& cluster, OpTable ops,
                                                   RealClusterOptions options);
  // The same on other hardware.
  static Result<std::unique_ptr<RealCluster>> open(const Cluster& cluster, OpTable ops,
                                                   RealClusterOptions options,
                                                   std::unique_ptr<Hardware> hardware);
  ~RealCluster();

  // A note for the user about how devices were bound, in one sentence; may be empty.
  std::string note() const;

  // The jobs of the next runs, by rising time. Fails (invalid_input) with a sentence as
  // check_arriving does, (infeasible) if their inputs do not fit into memory.
  Result<void> load(std::vector<Arrival> arrivals);

  // The seed is the decider's and the unknown load's. Fails with a sentence if the decider
  // answers what check_action does not allow, if a job failed, after the others have ended, and if
  // what happened does not pass the check of traces. Requires that jobs were loaded.
  Result<RealJobsRun> run(Decider& decider, uint64_t seed);

  // Whether every job of the last run came to what the float64 reference comes to; the worst of
  // all. Slow: each distinct job is evaluated once.
  Result<Verified> verify_last() const;

 private:
  RealCluster(const Cluster& cluster, OpTable ops, RealClusterOptions options,
              std::unique_ptr<Hardware> hardware);

  const Cluster& cluster_;
  OpTable ops_;
  RealClusterOptions options_;
  std::unique_ptr<Hardware> hardware_;
  JobEngine engine_;
  std::vector<Arrival> arrivals_;
  std::map<std::shared_ptr<const Job>, std::shared_ptr<JobInputs>> inputs_;
  std::vector<std::shared_ptr<JobRun>> runs_;  // of the last run, with their results
  mutable std::map<std::shared_ptr<const Job>, std::vector<Tensor>> references_;
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_ARRIVING_REAL_CLUSTER_H_
