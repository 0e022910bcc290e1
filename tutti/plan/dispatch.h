// The seam between deciding and acting while jobs arrive. A Dispatcher looks at a ClusterState and
// answers with one Action: run this op there now, configure that context for a kind, or nothing. It
// is asked again until it answers "nothing now", and next when an op has ended or a job has
// arrived.
//
// Dispatchers do not know which runtime acts: a simulated cluster (tutti/runtime/cluster) or a
// daemon. Both sides obey the rules of check_action; the runtime keeps the state by a
// ClusterLedger.

#ifndef TUTTI_PLAN_DISPATCH_H_
#define TUTTI_PLAN_DISPATCH_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tutti/machine/counter.h"
#include "tutti/plan/cluster.h"

namespace tutti {

using JobId = Id<struct JobTag>;  // in the order of arrival

struct Action {
  enum class Kind : uint8_t { no_op, execute, reconfigure };
  Kind kind = Kind::no_op;
  DeviceId device{};
  JobId job{};         // of execute
  OpId op{};           // of execute
  int context = -1;    // of reconfigure: which of the device's
  OpKindId op_kind{};  // of reconfigure: for what; in Cluster::kinds()

  static Action nothing() { return {}; }
  static Action execute(JobId job, OpId op, DeviceId device) {
    return {.kind = Kind::execute, .device = device, .job = job, .op = op};
  }
  static Action reconfigure(DeviceId device, int context, OpKindId op_kind) {
    return {.kind = Kind::reconfigure, .device = device, .context = context, .op_kind = op_kind};
  }
  friend bool operator==(const Action&, const Action&) = default;
};

struct OpStatus {
  enum class Phase : uint8_t {
    waiting,  // for producers
    ready,
    fetching,  // has a slot; its operands are on their way
    running,
    done,
  };
  Phase phase = Phase::waiting;
  DeviceId device{};
  int slot = -1;         // of the device
  Duration launched{0};  // when it got its slot
  Duration started{0};   // when its operands were there
  Duration finished{0};
};

// A job that is in the system.
struct JobStatus {
  JobId id{};
  std::shared_ptr<const Job> job;
  Duration arrival{0};
  std::vector<OpStatus> ops;     // by op
  std::vector<OpId> ready;       // by id
  int32_t left = 0;              // ops that are not done
  std::vector<uint64_t> copies;  // by value: a bit for each memory that holds it

  bool holds(MemoryId memory, ValueId value) const {
    return (copies[value.index] >> memory.index & 1) != 0;
  }
};

struct SlotStatus {
  enum class Phase : uint8_t { idle, busy, reconfiguring };
  Phase phase = Phase::idle;
  JobId job{};  // whose op it has, if busy
  OpId op{};
  Duration since{0};
  OpKindId configured{};  // of a context: the kind that it runs, or will; none: not configured yet
};

// An op that ended since the last decision.
struct FinishedOp {
  JobId job{};
  OpId op{};
  OpKindId kind{};
  DeviceId device{};
  Duration launched{0};
  Duration started{0};
  Duration finished{0};
  Duration alone{0};  // its mean run time there, with nothing else on the machine
};

// What a dispatcher sees. Between two decisions of one epoch the clock stands still and only what
// was decided changes.
struct ClusterState {
  const Cluster* cluster = nullptr;
  Duration now{0};
  int64_t epoch = 0;                             // how often the clock has moved on
  std::vector<std::unique_ptr<JobStatus>> jobs;  // by JobId; null: has ended
  std::vector<JobId> in_system;                  // by id
  std::vector<SlotStatus> slots;                 // numbered across devices; Cluster::first_slot
  int32_t busy_slots = 0;                        // busy or reconfiguring
  std::vector<int32_t> idle_slots;               // by device
  std::vector<int32_t> pending;      // by kind: ops in the system that were not launched yet
  std::vector<int32_t> ready;        // by kind: those of them that are ready
  std::vector<FinishedOp> finished;  // since the last epoch, by time
  // What counters said of the time between the last epoch and this one, and what ops that were
  // launched in this epoch will need in addition.
  std::vector<Counter> counters;
  std::vector<CounterReading> readings;
  std::vector<Launched> launched;

  const JobStatus& job(JobId id) const { return *jobs[id.index]; }
  const SlotStatus& slot(DeviceId device, int slot) const {
    return slots[cluster->first_slot(device) + slot];
  }
  // A slot in which the device could run an op of that kind now, numbered within the device; -1 if
  // there is none. Of several: one on idle cores, then the first.
  int free_slot(DeviceId device, OpKindId kind) const;
  // When the op's operands would be in the device's memory if nothing else were on the links.
  Duration fetch_time(const JobStatus& job, OpId op, DeviceId device) const;
};

// Ok, or a sentence. An op may be executed if it is ready, its problem allows the device and the
// device has a free slot (for a reconfigurable device: a context configured for its kind). A
// context may be reconfigured if it is idle, not configured for that kind already, the device can
// run that kind, and some job in the system has an op of it that was not launched yet. Doing
// nothing is not allowed while the whole cluster is idle and something can be done: the
// dispatcher would not be asked again.
Result<void> check_action(const ClusterState& state, const Action& action);

// All that check_action allows, in a fixed order: ops by job, op and device; then contexts by
// device, context and kind; then nothing.
void legal_actions(const ClusterState& state, std::vector<Action>& actions);

// Whether there is anything to decide: an action other than nothing.
bool can_act(const ClusterState& state);

class Dispatcher {
 public:
  virtual ~Dispatcher() = default;
  // A run begins. The cluster outlives it.
  virtual void begin(const Cluster& cluster, uint64_t seed) = 0;
  // Must obey check_action. Called only if can_act(state).
  virtual Action decide(const ClusterState& state) = 0;
};

}  // namespace tutti

#endif  // TUTTI_PLAN_DISPATCH_H_
