// A problem in which every op has its device, so that run times and transfers are plain numbers;
// what is left to decide is the order. Transfers are those of the simulator
// (runtime/sim/physical.h): a value goes once to each memory that reads it; if times are given for
// edges to there, the longest of them counts, else the route's.
//
// Requires a problem without contention (free_of_contention.h).

#ifndef TUTTI_SEARCH_EXACT_PLACED_H_
#define TUTTI_SEARCH_EXACT_PLACED_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "tutti/plan/problem.h"

namespace tutti {

class PlacedProblem {
 public:
  // Keeps a reference to the problem.
  explicit PlacedProblem(const Problem& problem);

  // Works everything out for a placement of all ops.
  void place(const std::vector<DeviceId>& placement);

  const Problem& problem() const { return problem_; }
  const Graph& graph() const { return problem_.graph; }
  const std::vector<DeviceId>& placement() const { return placement_; }
  int32_t device(OpId op) const { return placement_[op.index].index; }
  Duration run_time(OpId op) const { return run_time_[op.index]; }
  // From the end of the edge's producer until the value is there.
  Duration transfer(EdgeId edge) const { return transfer_[edge.index]; }
  // When all graph inputs of the op are there.
  Duration inputs_at(OpId op) const { return inputs_at_[op.index]; }
  // An input travels, though in no time: the simulator has it only after it has started what was
  // ready at the very beginning.
  bool has_travelling_input(OpId op) const { return travelling_[op.index] != 0; }
  // No run has the op start before `head`, nor end sooner than `tail` after that start.
  Duration head(OpId op) const { return head_[op.index]; }
  Duration tail(OpId op) const { return tail_[op.index]; }

  // No schedule of this placement ends sooner.
  Duration lower_bound();
  // The same, if ops start no sooner than `heads` (kNever: it is scheduled already). Looks at each
  // device by itself, on which ops may interrupt each other (Jackson's preemptive schedule; Carlier
  // 1982). Devices of several slots are passed over.
  Duration lower_bound(const std::vector<Duration>& heads);

 private:
  Duration bound_of_device(const std::vector<Duration>& heads, const std::vector<OpId>& ops);

  const Problem& problem_;
  std::vector<DeviceId> placement_;
  std::vector<Duration> run_time_;
  std::vector<Duration> transfer_;
  std::vector<Duration> inputs_at_;
  std::vector<uint8_t> travelling_;
  std::vector<Duration> head_;
  std::vector<Duration> tail_;
  std::vector<std::vector<OpId>> ops_on_;  // by device
  std::vector<OpId> by_head_;              // scratch
  std::vector<std::pair<Duration, int32_t>> waiting_;
  std::vector<Duration> left_;
};

// The time that the simulator takes to bring the edge's value to its reader, both being placed.
Duration transfer_of(const Problem& problem, const std::vector<DeviceId>& placement, EdgeId edge);

// Whatever the devices of the value's other readers: it takes no less from that device to this one.
Duration least_transfer_of(const Problem& problem, EdgeId edge, DeviceId from, DeviceId to);

// When a graph input reaches a device; 0 if it is there from the start.
Duration input_arrival(const Problem& problem, ValueId input, DeviceId device);

}  // namespace tutti

#endif  // TUTTI_SEARCH_EXACT_PLACED_H_
