// DraftFeatures are the input of PLACE while a plan is made: for the op to be placed, a row of
// numbers for each device, from what has been placed so far.
//
// Times can be estimated with link contention (as in a run on physical links) and without (as in
// the released simulator). One thread uses one object.

#ifndef TUTTI_POLICY_DOPPLER_DRAFT_FEATURES_H_
#define TUTTI_POLICY_DOPPLER_DRAFT_FEATURES_H_

#include <optional>
#include <span>
#include <vector>

#include "tutti/graph/groups.h"
#include "tutti/plan/draft.h"
#include "tutti/policy/schedule/contention.h"

namespace tutti {

// The columns of a row. kSlack is how much later than on the best device the op would finish, in
// its own mean run times. The static ones do not change while the plan is made.
inline constexpr int kSlack = 0;
inline constexpr int kFirstStaticColumn = 1;
inline constexpr int kStaticColumns = 8;
inline constexpr int kFirstDynamicColumn = kFirstStaticColumn + kStaticColumns;
inline constexpr int kDynamicColumns = 11;
inline constexpr int kDeviceFeatures = kFirstDynamicColumn + kDynamicColumns;
// The dynamic columns about links and about memory.
inline constexpr int kLinkWaitColumn = kFirstDynamicColumn + 5;
inline constexpr int kMemoryColumn = kFirstDynamicColumn + 10;

enum class Estimate : uint8_t {
  with_contention,
  without_contention,
  // Only the earliest start of the op, without contention, as in the published features. For the
  // ablation.
  start_alone,
};

// The part that does not change from episode to episode. Keeps a reference to the problem.
class DraftFacts {
 public:
  explicit DraftFacts(const Problem& problem);

  const Problem& problem() const { return *problem_; }
  // kStaticColumns numbers for placing op on device.
  void static_columns(OpId op, DeviceId device, float* columns) const;

 private:
  friend class DraftFeatures;
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

class DraftFeatures {
 public:
  // Keeps a reference to the facts. memory_share is as in Draft.
  DraftFeatures(const DraftFacts& facts, Estimate estimate, double memory_share = 1);

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

  const DraftFacts& facts_;
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

#endif  // TUTTI_POLICY_DOPPLER_DRAFT_FEATURES_H_
