// DecisionFeatures are all inputs of Symphony's net for one decision, as plain numbers: the state
// of each part of the machine, the ready ops with the devices they could go to, and the actions to
// choose from. Training keeps them and needs no WorldState.
//
// Sizes: V vertices of the topology, and as many jobs, ops, options and actions as there are.

#ifndef TUTTI_POLICY_SYMPHONY_DECISION_FEATURES_H_
#define TUTTI_POLICY_SYMPHONY_DECISION_FEATURES_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "tutti/plan/world/decider.h"
#include "tutti/policy/symphony/job_rows.h"
#include "tutti/policy/symphony/topology.h"

namespace tutti {

// Of a vertex: share of its slots in use, what running ops draw of it, share of its slots that are
// being reconfigured, how long until a slot is free.
inline constexpr int kVertexStatus = 4;
// Of a vertex: use, its spread, whether anything is known; and what counters say: amount, waiting,
// outstanding requests.
inline constexpr int kVertexSeen = 6;
enum SeenColumn { kUse, kSpread, kKnown, kAmount, kWaiting, kOutstanding };
// Of the whole: jobs, ready ops, slots in use, age of jobs, share of options that are free.
inline constexpr int kOverall = 5;
// Of an option: run, fetch and waiting time over the op's least run time (logarithms), its rank in
// its job, its least run time, what is behind it, what is left of its job, the job's age, whether
// it can be launched now.
inline constexpr int kOptionRow = 9;
enum OptionColumn { kRankColumn = 3, kAgeColumn = 7, kFreeColumn = 8 };
// Of a reconfiguration: how many ops wait for it, what they gain, how long it takes, how many wait
// for what the context is now.
inline constexpr int kReconfigureRow = 4;
enum ReconfigureColumn { kGainColumn = 1 };

struct DecisionFeatures {
  std::vector<float> status;      // V x kVertexStatus
  std::vector<float> seen;        // V x kVertexSeen; see Observer
  std::vector<float> own_before;  // V: what own ops drew while `seen` was seen, as a share
  std::vector<float> unseen;    // V: load of others that does not show now; see SymphonyPolicyState
  std::vector<float> counters;  // in a list, for InformationLevel::counters
  std::vector<float> overall;   // kOverall

  struct Op {
    int32_t job = 0;  // JobId
    int32_t op = 0;
  };
  std::vector<int32_t> jobs;  // JobIds in the system
  std::vector<Op> ops;        // ready ones, with a device that is free

  // Every op with every device that may run it, busy ones too: it may pay to wait for one.
  struct Option {
    int32_t op = 0;  // in `ops`
    int32_t device = 0;
    float crowd_own = 0;  // slowdown by own ops; below 1: none
    // Waiting and fetching, and running alone, over the op's least run time.
    float before = 0;
    float run = 1;
    int32_t first_draw = 0;  // in `draws`
    int32_t end_draw = 0;
  };
  std::vector<Option> options;
  std::vector<float> option_rows;  // options x kOptionRow
  struct VertexDraw {
    int32_t vertex = 0;
    float share = 0;
    // Of own ops that would run at the same time: what they draw, and how many they are. If the op
    // has to wait for a slot, the op that runs there now is not one of them.
    float own = 0;
    float flows = 0;
  };
  std::vector<VertexDraw> draws;

  std::vector<int32_t> reconfigured;    // device of each reconfiguration
  std::vector<float> reconfigure_rows;  // reconfigurations x kReconfigureRow

  // The actions in order: options that are free (their places in `options`), reconfigurations, and
  // nothing if that is allowed.
  std::vector<int32_t> executions;
  std::vector<Action> actions;
  bool may_rest = false;

  // Forgets jobs, ops, options and actions, and keeps the memory of all lists.
  void clear();
};

// Hidden load is assumed to consist of this many ops: jobs of others run several at once, as ours.
inline constexpr float kOtherFlows = 4;

// The slowdown of an op that draws `share` of a resource, together with `flows` own ops that draw
// `own` and hidden load that draws `others`; below 1: none. The resource is divided max-min fairly
// (tutti/runtime/sim/jobs/shares.h): a user that wants less than an even share gets all of it, and
// an op's level is the largest that is left when some have all that they want.
inline float slower_by(float share, float own, float flows, float others) {
  const float level = std::max({1 - own - others, (1 - own) / (kOtherFlows + 1),
                                (1 - others) / (flows + 1), 1 / (flows + kOtherFlows + 1)});
  return share / level;
}

// Makes the features of one run. Not for several threads at once.
class FeatureMaker {
 public:
  FeatureMaker(const Cluster& cluster, const Topology& topology);

  // Fills in all but `seen` and `counters`, which stay. With `always_work`, doing nothing is an
  // action only if there is no other. Requires can_act(state).
  void make(const WorldState& state, bool always_work, DecisionFeatures& features);

  const JobRows& rows(const JobStatus& job);

 private:
  void look_at_devices(const WorldState& state, DecisionFeatures& features);
  void add_options(const WorldState& state, const JobStatus& job, OpId op,
                   DecisionFeatures& features);
  void add_reconfigurations(const WorldState& state, DecisionFeatures& features);
  double gain(const WorldState& state, DeviceId device, OpKindId kind) const;
  int free_slot(const WorldState& state, DeviceId device, OpKindId kind);
  // Until the device could take an op of that kind, and in which slot (numbered through).
  struct Wait {
    double ns = 0;
    int32_t slot = 0;
  };
  Wait wait_for(const WorldState& state, DeviceId device, OpKindId kind, int slot) const;
  std::span<const Draw> running_draws(const WorldState& state, int32_t slot) const;

  const Cluster& cluster_;
  const Topology& topology_;
  std::map<JobId, JobRows> rows_;
  std::vector<double> drawn_;      // by shared resource, by own running ops: shares
  std::vector<int> flows_;         // by shared resource: how many they are
  std::vector<double> remaining_;  // by slot: ns until its op should end; 0: idle
  std::vector<int> free_slots_;    // by kind and device; kNotAsked: not asked yet
  int64_t epoch_ = -1;
  std::vector<float> own_now_;
  std::vector<float> own_before_;
};

}  // namespace tutti

#endif  // TUTTI_POLICY_SYMPHONY_DECISION_FEATURES_H_
