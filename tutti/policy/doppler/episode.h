// An Episode records how one plan was made, decision by decision, for training: the choices, what
// was chosen, and what should have been chosen.

#ifndef TUTTI_POLICY_DOPPLER_EPISODE_H_
#define TUTTI_POLICY_DOPPLER_EPISODE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "tutti/base/random.h"
#include "tutti/plan/policy.h"

namespace tutti {

struct Episode {
  int devices = 0;                    // of the machine
  int device_features = 0;            // columns of a row
  std::vector<int32_t> op;            // by step: the op that was placed
  std::vector<int32_t> device;        // by step: where
  std::vector<int32_t> ready;         // the ready ops of all steps, one step after another
  std::vector<int32_t> ready_begin;   // by step, where its ready ops begin; one more at the end
  std::vector<uint8_t> right_op;      // parallel to `ready`: 1 for what should be chosen
  std::vector<float> rows;            // steps x devices x device_features; 0 where not allowed
  std::vector<uint8_t> allowed;       // steps x devices
  std::vector<uint8_t> right_device;  // steps x devices: 1 for what should be chosen
  // If a policy chooses op and device at once, the last three have a row of devices for each of
  // `ready` instead of one for each step, and `right_op` is 1 if any device is right.
  // By step: the start of the op, for nets that run in every step; else empty.
  std::vector<float> start;
  // Steps x 2: the log-likelihood of what is right, SELECT's and PLACE's, as the actor had it.
  std::vector<float> likelihood;
  // How often the policy's own first choice was among the right ones.
  int64_t matched = 0;
  int64_t decisions = 0;
};

// Says what should be chosen in a state. All ties count as right.
class Teacher {
 public:
  virtual ~Teacher() = default;
  // Some of state.ready(); never none.
  virtual void right_ops(const State& state, std::vector<OpId>& ops) = 0;
  // Some of state.devices_for(op); never none.
  virtual void right_devices(const State& state, OpId op, std::vector<DeviceId>& devices) = 0;
};

// How decisions are made in an episode.
struct Acting {
  enum class Mode : uint8_t {
    greedy,  // the highest score; ties to the lowest id
    sample,  // drawn from the net's distribution
    // Greedy, but a random choice with the probabilities below. Not for the residual net, whose
    // order is fixed when an op becomes ready.
    random_at_times,
    follow,  // as a given plan says
  };
  Mode mode = Mode::greedy;
  // SELECT is greedy whatever the mode: for simulators that ignore the order, where sampling it
  // would only add noise.
  bool select_greedily = false;
  double select_randomness = 0;
  double place_randomness = 0;
  const Plan* plan = nullptr;  // to follow
  // While following: if the net scores two devices equally, the first of them is taken and the two
  // change names in the rest of the plan. On a machine with equal devices the plan thereby becomes
  // an equal one that the net can learn.
  bool rename_equals = false;
  double memory_share = 1;     // as in Draft
  Stop stop{};                 // no plan from then on
  Teacher* teacher = nullptr;  // none: what was chosen counts as right
  // If given, becomes ops x devices: PLACE's logits when the op was placed; kNoOdds where it may
  // not go.
  std::vector<float>* place_logits = nullptr;
  // If given: becomes true, and there is no plan, if a logit is NaN or infinite.
  bool* overflow = nullptr;
  Episode* record = nullptr;  // none: nothing is recorded
};

// Makes plans for one problem with one net. One object serves one thread.
class Actor {
 public:
  virtual ~Actor() = default;
  // None if memory leaves an op no device, or if it was stopped.
  virtual std::optional<Plan> act(const Acting& acting, Rng rng) = 0;
};

}  // namespace tutti

#endif  // TUTTI_POLICY_DOPPLER_EPISODE_H_
