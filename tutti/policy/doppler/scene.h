// A Scene is a plan being made as the PLACE network sees it: for the op to be placed, a row of
// numbers for each device, from what has been placed so far.
//
// Estimates of time are at hand with link contention (what a run on physical links does) and
// without (what the released simulator does). One thread uses one scene.

#ifndef TUTTI_POLICY_DOPPLER_SCENE_H_
#define TUTTI_POLICY_DOPPLER_SCENE_H_

#include <optional>
#include <span>
#include <vector>

#include "tutti/graph/groups.h"
#include "tutti/plan/draft.h"
#include "tutti/policy/contention.h"

namespace tutti {

// The columns of a row. kSlack is how much later than on the best device the op would finish, in
// its own mean run times. The static ones do not change while the plan is made.
inline constexpr int kSlack = 0;
inline constexpr int kFirstStaticColumn = 1;
inline constexpr int kStaticColumns = 8;
inline constexpr int kFirstDynamicColumn = kFirstStaticColumn + kStaticColumns;
inline constexpr int kDynamicColumns = 11;
inline constexpr int kDeviceFeatures = kFirstDynamicColumn + kDynamicColumns;
// Those dynamic ones that tell of links and of memory.
inline constexpr int kLinkWaitColumn = kFirstDynamicColumn + 5;
inline constexpr int kMemoryColumn = kFirstDynamicColumn + 10;

enum class Estimate : uint8_t {
  with_contention,
  without_contention,
  // Only when the op could start, without contention: as much as the published features tell of a
  // device. For the ablation.
  start_alone,
};

// What does not change from episode to episode. Keeps a reference to the problem.
class SceneFacts {
 public:
  explicit SceneFacts(const Problem& problem);

  const Problem& problem() const { return *problem_; }
  // kStaticColumns numbers for placing op on device.
  void static_columns(OpId op, DeviceId device, float* columns) const;

 private:
  friend class Scene;
  struct Wires {  // of a device to and from the others
    double out_ns_per_byte = 0;
    double out_latency_ns = 0;
    double in_ns_per_byte = 0;
    double in_latency_ns = 0;
  };
  const Problem* problem_;
  double mean_run_time_ns_ = 1;
  double total_run_time_ns_ = 1;
  std::vector<double> slowness_;    // by device: log of its mean run time over the least there is
  std::vector<Wires> wires_;        // by device
  std::vector<int64_t> out_bytes_;  // by op
  Groups groups_;
};

class Scene {
 public:
  // Keeps a reference to the facts. memory_share is as in Draft.
  Scene(const SceneFacts& facts, Estimate estimate, double memory_share = 1);

  const State& state() const { return contention_ ? contention_->state() : *draft_; }
  std::span<const DeviceId> devices_for(OpId op) const { return state().devices_for(op); }

  // One row for each of the devices, which are those of devices_for(op). Columns of the static
  // part are filled in only if asked for.
  enum class Columns : uint8_t { all, slack_only };
  void observe(OpId op, std::span<const DeviceId> devices, Columns columns, float* rows);

  void place(OpId op, DeviceId device);

  // Requires that every op is placed.
  Plan to_plan() const { return contention_ ? contention_->to_plan() : draft_->to_plan(); }

 private:
  // The run time as far as the estimate knows it.
  Duration run_time(OpId op, DeviceId device) const;
  Duration finish_on(OpId op, DeviceId device);
  // The share of the operands' bytes that are, or were sent, where the device can read them.
  void locate_operands(OpId op);
  // Of the other operands of the op's readers, how many bytes each device has made.
  void locate_siblings(OpId op);

  const SceneFacts& facts_;
  const Problem& problem_;
  Estimate estimate_;
  std::optional<ContentionSchedule> contention_;
  std::optional<Draft> draft_;
  std::vector<double> load_ns_;  // by device
  double loads_ns_ = 0;
  std::vector<int> group_on_;        // group x device
  std::vector<int> group_placed_;    // by group
  std::vector<double> local_bytes_;  // by device, of the op looked at
  std::vector<double> sibling_bytes_;
  double operand_bytes_ = 0;
  double all_sibling_bytes_ = 0;
  std::vector<Duration> finishes_;
  std::vector<Duration> arrivals_;
};

}  // namespace tutti

#endif  // TUTTI_POLICY_DOPPLER_SCENE_H_
