// A Placement is where each op goes, for planners that think of places and not of time. It keeps to
// what pins, forbidden pairs and colocation leave, and becomes a plan by an order rule.

#ifndef TUTTI_POLICY_PLACES_PLACEMENT_H_
#define TUTTI_POLICY_PLACES_PLACEMENT_H_

#include <span>
#include <vector>

#include "tutti/plan/plan.h"
#include "tutti/plan/problem.h"

namespace tutti {

class Placement {
 public:
  // Keeps a reference to the problem.
  explicit Placement(const Problem& problem);

  // Where the op may go, by id, never nowhere: once an op of its colocation group has its place,
  // only there.
  std::span<const DeviceId> choices(OpId op) const;

  // Invalid until the op has its place.
  DeviceId of(OpId op) const { return devices_[op.index]; }

  // Requires one of choices(op). An op may be put again elsewhere if it has no colocation group.
  void put(OpId op, DeviceId device);

  // Puts the op on the wanted device, or on the next one behind it, round and round, that it may
  // use.
  void put_near(OpId op, DeviceId wanted);

  // Requires that every op has its place. Priorities are plan-aware b-levels, the timeline is that
  // of ContentionSchedule in this order. Fails (infeasible) if memory does not hold the placement.
  Result<Plan> to_plan() const;

 private:
  const Problem& problem_;
  std::vector<DeviceId> devices_;       // by op
  std::vector<DeviceId> group_device_;  // by colocation group
};

}  // namespace tutti

#endif  // TUTTI_POLICY_PLACES_PLACEMENT_H_
