// A ContentionSchedule is a draft with link contention: a value travels once to each memory that
// reads it, over channels booked as in link_queues.h, and an op may go into an idle gap of its
// device. It obeys colocation and memory as Draft does.
//
// It estimates what a work-conserving run will do; the estimate is not exact.

#ifndef TUTTI_POLICY_SCHEDULE_CONTENTION_H_
#define TUTTI_POLICY_SCHEDULE_CONTENTION_H_

#include <span>
#include <vector>

#include "tutti/plan/draft.h"
#include "tutti/plan/plan.h"
#include "tutti/policy/schedule/link_queues.h"
#include "tutti/policy/schedule/timeline.h"

namespace tutti {

class ContentionSchedule {
 public:
  // Keeps a reference to the problem. memory_share is as in Draft.
  explicit ContentionSchedule(const Problem& problem, double memory_share = 1);

  // Where a ready op may go now; empty only if memory is short.
  std::span<const DeviceId> devices_for(OpId op) const { return draft_.devices_for(op); }

  // When this ready op would finish on a device.
  Duration finish_on(OpId op, DeviceId device);

  // A lower bound of finish_on that is quicker to compute: without contention for its transfers.
  Duration least_finish_on(OpId op, DeviceId device) const;

  // Books the op's transfers and its time. Takes any device that can run it: a caller that must
  // obey memory chooses from devices_for.
  void place(OpId op, DeviceId device);

  const State& state() const { return draft_; }

  // Requires that every op is placed. Priorities are planned starts.
  Plan to_plan() const { return draft_.to_plan(); }

 private:
  struct Slot {
    int index;
    Duration start;
  };
  struct Fetch {  // an operand that is not in the memory yet
    Duration ready;
    ValueId value;
    MemoryId from;
    friend auto operator<=>(const Fetch&, const Fetch&) = default;
  };
  enum class Mode { attempt, book };

  // When all operands are there.
  Duration arrival(OpId op, DeviceId device, Mode mode);
  Slot best_slot(OpId op, DeviceId device, Duration ready) const;

  const Problem& problem_;
  Draft draft_;
  LinkQueues links_;
  std::vector<Timeline> slots_;
  std::vector<int> slot_begin_;    // by device
  std::vector<Duration> arrived_;  // by value x memory; negative: not sent there
  std::vector<Fetch> fetches_;     // of the op looked at
};

}  // namespace tutti

#endif  // TUTTI_POLICY_SCHEDULE_CONTENTION_H_
