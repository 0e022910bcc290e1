// A Draft is a plan being made, op by op. It implements State, so that Select and Place can look
// at it, and keeps a timeline in which each op starts as soon as its operands can be there and a
// slot is free, behind what was placed on the device before (no insertion, no link contention).
//
// apply costs time in proportion to the op's degree. One thread uses one draft.

#ifndef TUTTI_PLAN_DRAFT_H_
#define TUTTI_PLAN_DRAFT_H_

#include <cstdint>
#include <span>
#include <vector>

#include "tutti/plan/plan.h"
#include "tutti/plan/state.h"

namespace tutti {

class Draft : public State {
 public:
  // Keeps a reference to the problem. A memory_share below 1 leaves the rest of every limited
  // memory unused: a run overlaps more than a draft, so it may need more room.
  explicit Draft(const Problem& problem, double memory_share = 1);

  const Problem& problem() const override { return problem_; }
  Duration now() const override { return Duration{0}; }
  std::span<const OpId> ready() const override { return ready_; }
  DeviceId placement(OpId op) const override { return placement_[op.index]; }
  Duration finish(OpId op) const override { return finish_[op.index]; }
  Duration free_at(DeviceId device) const override;
  std::span<const DeviceId> devices_for(OpId op) const override;
  int64_t memory_left(DeviceId device) const override;

  // Places a ready op on one of devices_for(op). apply starts it at earliest_start(op,
  // device), apply_at at `start`, which must not be earlier than its operands arrive.
  void apply(OpId op, DeviceId device);
  void apply_at(OpId op, DeviceId device, Duration start);

  int placed_count() const { return placed_count_; }
  bool complete() const { return placed_count() == problem_.graph.size(); }
  Duration start(OpId op) const { return start_[op.index]; }
  Duration makespan() const { return makespan_; }

  // Requires complete(). Priorities are planned starts; equal starts keep the order of placing.
  Plan to_plan() const;

 private:
  // Counts the memory that placing `op` on `device` needs and frees.
  void account_memory(OpId op, DeviceId device);
  int64_t memory_need(OpId op, MemoryId memory) const;
  bool is_streamed(ValueId value) const {
    return problem_.weights_are_streamed() && problem_.is_homed_weight(value);
  }

  const Problem& problem_;
  std::vector<OpId> ready_;
  std::vector<int32_t> ready_position_;  // by op, while it is ready
  std::vector<int32_t> missing_;         // by op: producers not placed yet, counted per edge
  std::vector<DeviceId> placement_;      // by op
  std::vector<Duration> start_;          // by op
  std::vector<Duration> finish_;         // by op
  std::vector<Duration> slot_free_;      // by slot of each device
  std::vector<int> slot_begin_;          // by device
  std::vector<DeviceId> group_device_;   // by colocation group: where the first member was placed
  int placed_count_ = 0;
  Duration makespan_{0};
  // Memory, kept only where limits are enforced.
  double memory_share_;
  std::vector<int64_t> memory_used_;       // by memory
  std::vector<int32_t> unplaced_readers_;  // by value: edges whose op is not placed yet
  std::vector<int32_t> readers_in_;        // by value x memory: edges placed there
  mutable std::vector<DeviceId> choices_;  // what devices_for returned last
  // By value: the last look at an op's need that met it. Some ops have a great many operands.
  mutable std::vector<uint64_t> looked_at_;
  mutable uint64_t look_ = 0;
};

}  // namespace tutti

#endif  // TUTTI_PLAN_DRAFT_H_
