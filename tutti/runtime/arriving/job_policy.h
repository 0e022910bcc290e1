// A decider as the policy of a real run: all jobs that will come are one graph (graph/joined.h),
// ops of a job may be decided from its arrival on, and a WorldLedger keeps what the decider
// sees from what happens. An epoch is one time at which the run asks.
//
// The ledger's slots are those that the decider gave; which thread of a device of several slots
// takes an op is the engine's business, so there two ops may have changed places.
//
// For one run. Threads: as OnlineWatch says.

#ifndef TUTTI_RUNTIME_ARRIVING_JOB_POLICY_H_
#define TUTTI_RUNTIME_ARRIVING_JOB_POLICY_H_

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "tutti/graph/joined.h"
#include "tutti/plan/policy.h"
#include "tutti/plan/world_ledger.h"
#include "tutti/runtime/arriving/own_counters.h"
#include "tutti/runtime/local/online_watch.h"
#include "tutti/runtime/sim/jobs/job_simulator.h"
#include "tutti/telemetry/counter_feed.h"

namespace tutti {

class JobPolicy final : public OnlineWatch {
 public:
  // All must outlive it; `feed` may be null. `ended` is told of each job as it ends. Requires
  // arrivals by rising time, part i of `joined` to be the graph of arrival i, and a machine without
  // contexts to configure.
  JobPolicy(const Cluster& cluster, const Joined& joined, const std::vector<Arrival>& arrivals,
            Decider& decider, std::vector<Counter> counters, const CounterFeed* feed,
            std::function<void(const JobRecord& job)> ended = {});

  // For LocalRuntime::run_online, together with this object.
  Policy policy();

  void started(OpId op, Duration now) override;
  void finished(OpId op, Duration now) override;
  void arrived(ValueId value, MemoryId memory, Duration now) override;
  void asked(Duration now) override;
  std::optional<Error> error() const override { return error_; }
  Duration next_time() const override;

  // What has happened so far. Jobs that have not ended have a finish of 0.
  const JobsRecord& run() const { return run_; }
  // How long each decision took.
  const std::vector<Duration>& decision_times() const { return decision_times_; }

 private:
  class SelectJobOp;
  class PlaceJobOp;

  std::optional<OpId> select();
  void pass_until(Duration now);
  // What was decided in the last epoch is no news any more.
  void close_epoch();
  void admit_all();
  void read_counters();
  void launch(const Action& action);
  const Joined::Place& place_of(OpId op) const {
    return joined_.op_places[static_cast<size_t>(op.index)];
  }

  const Cluster& cluster_;
  const Joined& joined_;
  const std::vector<Arrival>& arrivals_;
  Decider& decider_;
  const CounterFeed* feed_;
  std::function<void(const JobRecord& job)> ended_;
  std::vector<int> fed_by_;  // by counter: its place in the feed; -1: no source counts it
  OwnCounters own_;
  WorldLedger ledger_;
  JobsRecord run_;
  std::vector<Duration> decision_times_;
  std::vector<int32_t> slot_of_;  // by op of the whole, once it is launched
  std::vector<CounterReading> fed_;
  size_t next_arrival_ = 0;
  bool decided_ = false;  // in this epoch
  DeviceId chosen_{};
  std::optional<Error> error_;
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_ARRIVING_JOB_POLICY_H_
