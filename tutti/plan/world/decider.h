// The seam between deciding and acting. A Decider looks at a WorldState and answers with one
// Action: give this op to that device, configure that context for a kind, or nothing. It is asked
// again until it answers "nothing now", and next when something has changed: an op has ended, a job
// has arrived.
//
// Deciders do not know which runtime acts: the simulator, or the engine of this host. Both obey
// the rules of check_action and keep the state by a WorldLedger. A pair of Select and Place is made
// a Decider by tutti/plan/world/select_place.h.

#ifndef TUTTI_PLAN_WORLD_DECIDER_H_
#define TUTTI_PLAN_WORLD_DECIDER_H_

#include <cstdint>
#include <vector>

#include "tutti/plan/world/world_state.h"

namespace tutti {

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

// Ok, or a sentence. An op may be executed if it is ready, its problem allows the device and the
// device has room: a free slot (of a reconfigurable device: a context configured for its kind) or a
// place in its queue. A context may be reconfigured if it is idle, not configured for that kind
// already, the device can run that kind, and some job in the system has an op of it that was not
// launched yet. Doing nothing is not allowed while the whole cluster is idle and something can be
// done: the decider would not be asked again.
Result<void> check_action(const WorldState& state, const Action& action);

// All that check_action allows, in a fixed order: ops by job, op and device; then contexts by
// device, context and kind; then nothing.
void legal_actions(const WorldState& state, std::vector<Action>& actions);

// Whether there is anything to decide: an action other than nothing.
bool can_act(const WorldState& state);

class Decider {
 public:
  virtual ~Decider() = default;
  // A run begins. The cluster outlives it.
  virtual void begin(const Cluster& cluster, uint64_t seed) = 0;
  // Must obey check_action. Called only if can_act(state).
  virtual Action decide(const WorldState& state) = 0;
};

}  // namespace tutti

#endif  // TUTTI_PLAN_WORLD_DECIDER_H_
