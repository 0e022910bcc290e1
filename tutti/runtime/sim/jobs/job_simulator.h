// A simulated cluster: jobs arrive, a decider (or the caller of step) decides, ops fetch what
// their device's memory lacks and run, and everything that shares a resource slows down as
// tutti/runtime/sim/jobs/shares.h says. Usable as a whole (run) or step by step, as an environment
// to train in:
//
//   JobSimulator sim(cluster, options);
//   sim.reset(arrivals, seed);
//   while (!sim.done()) {
//     const Result<double> reward = sim.step(choose(sim.state()));
//     ...
//   }
//
// Departs from tutti/runtime/sim: channels that are "exclusive" there divide their bandwidth here,
// memory never runs short, and an op's operands begin to travel when it is launched.
//
// Decisions may take time (JobSimOptions::decision_delay). There is one scheduler: it makes one
// decision after another, each on the state as it is when the decision begins, and devices go on
// until it takes effect. An action that is no longer allowed by then is dropped; here that can only
// be "nothing now", as only the scheduler takes slots and ops. A decision begins when the last one
// has taken effect and something can be done; after "nothing now" only when something has changed
// since that was decided.
//
// Same arrivals, options and seed: same run, whatever else runs (not with measured_delay). Noise,
// arrivals and unknown load do not depend on what is decided, so that two deciders can be compared
// on the same draws.

#ifndef TUTTI_RUNTIME_SIM_JOBS_JOB_SIMULATOR_H_
#define TUTTI_RUNTIME_SIM_JOBS_JOB_SIMULATOR_H_

#include <memory>
#include <queue>
#include <utility>
#include <vector>

#include "tutti/base/stop.h"
#include "tutti/plan/world/decider.h"
#include "tutti/plan/world/world_ledger.h"
#include "tutti/runtime/sim/jobs/meters.h"
#include "tutti/runtime/sim/jobs/options.h"
#include "tutti/runtime/sim/jobs/shares.h"
#include "tutti/trace/check_jobs.h"

namespace tutti {

class JobSimulator {
 public:
  // The cluster must outlive it; jobs may be added to the cluster later.
  JobSimulator(const Cluster& cluster, JobSimOptions options);
  ~JobSimulator();

  // Begins a run and moves on to the first decision. Requires arrivals by rising time.
  void reset(std::vector<Arrival> arrivals, uint64_t seed);

  // A job comes now: it is there at the next epoch. Requires that those given to reset have come.
  JobId arrive(std::shared_ptr<const Job> job);

  // All jobs have ended.
  bool done() const { return finished_jobs_ == arrivals_.size(); }

  bool ended(JobId id) const {
    const auto& jobs = state().jobs;
    return id.index < static_cast<int32_t>(jobs.size()) && jobs[id.index] == nullptr;
  }

  // What a decider sees. Unless done: can_act(state()).
  const WorldState& state() const { return ledger_.state(); }

  // Does it; once nothing is left to decide, or for "nothing now", moves on to the next decision.
  // The reward is that of the time that passed: minus the sum over ops in flight or ready of dt /
  // the op's time alone on its best device; over an episode, minus the sum of slow-downs. Fails
  // with a sentence, and changes nothing, where check_action does.
  Result<double> step(const Action& action) { return step(action, options_.decision_delay); }
  // The same with another delay than that of the options.
  Result<double> step(const Action& action, Duration delay);

  // For a ShareGate, which hides jobs while a decider looks and shows them again before the step.
  WorldLedger& ledger() { return ledger_; }

  // Takes the record of a job that has ended.
  JobRecord take(JobId id) { return std::exchange(records_[static_cast<size_t>(id.index)], {}); }
  // By JobId; those that have not ended have a finish of 0.
  const std::vector<JobRecord>& jobs() const { return records_; }
  int64_t decisions() const { return decisions_; }
  // If spans are recorded; by start.
  const std::vector<Reconfiguration>& reconfigurations() const { return reconfigurations_; }
  // What the judge has to know of runs of this simulator.
  JobsRules rules() const;
  // Those of them that were dropped: no longer allowed when they should have taken effect.
  int64_t dropped() const { return dropped_; }
  const JobSimOptions& options() const { return options_; }

  // The truth between the last decision and this one; not for deciders, but for tests and for a
  // policy that is told everything to see what knowing is worth.
  double utilisation(const Resource& resource) const { return meters_.utilisation(resource); }

 private:
  struct Transfer;
  struct Tenant;
  struct Event {
    Duration time{0};
    int64_t turn = 0;
    enum class Kind : uint8_t { hop_begins, configured, tenant, op_begins } kind{};
    int32_t index = 0;
    friend bool operator>(const Event& a, const Event& b) {
      return a.time != b.time ? a.time > b.time : a.turn > b.turn;
    }
  };

  void admit(const Arrival& arrival);
  void launch(const Action& action);
  void fetch(JobStatus& job, OpId op, EdgeId edge);
  void begin_hop(int32_t transfer);
  void end_hop(int32_t transfer);
  int32_t& fetches_left(JobId job, OpId op) { return fetches_left_[job.index][op.index]; }
  // Starts the op if it has its operands and its device has a slot in which no op runs.
  bool start_if_possible(JobStatus& job, OpId op);
  // The same for all that the device has, by turn.
  void start_all(DeviceId device);
  void start_op(JobStatus& job, OpId op);
  void lengthen_queues();
  // Its dispatch is over.
  void begin_op(int32_t slot);
  void end_op(int32_t slot);
  void end_job(JobId id);
  void switch_tenant(int32_t tenant);
  void begin_tenancy(Tenant& tenant);
  void schedule(Duration time, Event::Kind kind, int32_t index);
  void apply(const Action& action);
  // To the next time at which something can be decided, or to the end. A new epoch.
  void move_on();
  void wait_for_decision();
  // Everything up to that time and at it happens. Not all jobs end: what can be decided is left.
  void go_on_until(Duration time);
  // When something happens next; kNever: nothing will.
  Duration next_time();
  // Time passes until then, and all that happens at it does.
  void happen_at(Duration time);
  void pass_until(Duration time);
  void handle_event(const Event& event);
  std::span<const Draw> hop_draws(MemoryId from, const Hop& hop);
  void make_tenants();
  Duration now() const { return ledger_.state().now; }

  const Cluster& cluster_;
  JobSimOptions options_;
  SharedFlows flows_;
  Meters meters_;
  WorldLedger ledger_;
  uint64_t seed_ = 0;
  std::vector<Arrival> arrivals_;
  size_t next_arrival_ = 0;
  size_t finished_jobs_ = 0;
  int64_t decisions_ = 0;
  int64_t dropped_ = 0;
  int64_t turn_ = 0;
  double reward_ = 0;
  bool changed_ = false;  // something ended or came: there may be something to decide
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::vector<std::vector<int32_t>> fetches_left_;  // by job and op that was launched: operands
  std::vector<std::unique_ptr<Transfer>> transfers_;
  std::vector<int32_t> free_transfers_;
  std::vector<std::unique_ptr<Tenant>> tenants_;
  std::vector<JobRecord> records_;
  std::vector<Reconfiguration> reconfigurations_;
  std::vector<int32_t> ended_;
  std::vector<double> work_;  // by slot: of the op that was started there, in ns
  bool helped_ = false;  // a slot ended an op, and has none to go on with, since the last decision
  std::vector<bool> ran_empty_;     // by device, since queues were looked at
  std::vector<Duration> last_end_;  // by slot
  std::vector<std::pair<const Hop*, std::vector<Draw>>> hop_draws_;
};

// A whole run. Fails with a sentence if the decider answers what check_action does not allow, or
// if jobs are left after `most_decisions`, or when it is stopped.
inline constexpr int64_t kMostDecisions = int64_t{1} << 40;
Result<JobsRecord> run_jobs(JobSimulator& sim, std::vector<Arrival> arrivals, Decider& decider,
                            uint64_t seed, int64_t most_decisions = kMostDecisions,
                            const Stop& stop = {});

}  // namespace tutti

#endif  // TUTTI_RUNTIME_SIM_JOBS_JOB_SIMULATOR_H_
