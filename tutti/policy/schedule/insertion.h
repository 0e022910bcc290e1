// An InsertionSchedule is a draft with insertion: an op may go into an idle gap between ops that
// were placed before it, as HEFT and its kin do. Operands arrive without link contention.

#ifndef TUTTI_POLICY_SCHEDULE_INSERTION_H_
#define TUTTI_POLICY_SCHEDULE_INSERTION_H_

#include <span>
#include <vector>

#include "tutti/plan/plan.h"
#include "tutti/plan/problem.h"
#include "tutti/policy/schedule/timeline.h"

namespace tutti {

class InsertionSchedule {
 public:
  // Keeps a reference to the problem.
  explicit InsertionSchedule(const Problem& problem);

  struct Option {
    DeviceId device{};
    int slot = 0;
    Duration start{0};
    Duration finish{kNever};
  };

  // The best option on one device, or on any that the op may use: the earliest finish, then the
  // smallest id. Require that all producers of the op are placed.
  Option best_on(OpId op, DeviceId device) const;
  Option best(OpId op) const;

  // Those the op may use: once an op of its colocation group is placed, only that one's.
  std::span<const DeviceId> devices_for(OpId op) const;

  void place(OpId op, const Option& option);

  // Requires that every op is placed. Fails (infeasible) if memory does not hold the placement.
  Result<Plan> to_plan() &&;

 private:
  Duration arrival(OpId op, DeviceId device) const;

  const Problem& problem_;
  Plan plan_;
  std::vector<Timeline> timelines_;  // by slot of each device
  std::vector<int> slot_begin_;      // by device
  std::vector<DeviceId> group_device_;
};

}  // namespace tutti

#endif  // TUTTI_POLICY_SCHEDULE_INSERTION_H_
