#include "tutti/search/exact/placed.h"

#include <algorithm>
#include <functional>
#include <optional>

namespace tutti {

Duration transfer_of(const Problem& problem, const std::vector<DeviceId>& placement, EdgeId edge) {
  const Graph& graph = problem.graph;
  const Machine& machine = problem.machine;
  const ValueId value = graph.edge_value(edge);
  const DeviceId from = placement[graph.edge_from(edge).index];
  const MemoryId memory = machine.memory_of(placement[graph.edge_to(edge).index]);
  if (machine.memory_of(from) == memory) return Duration{0};
  if (problem.costs.has_given_transfers()) {
    Duration longest{-1};
    for (const EdgeId other : graph.consumers(value)) {
      const DeviceId to = placement[graph.edge_to(other).index];
      if (machine.memory_of(to) != memory) continue;
      longest = std::max(longest, problem.costs.given_transfer(other, from, to).value_or(longest));
    }
    if (longest.count() >= 0) return longest;
  }
  return problem.costs.transfer_time(value, machine.memory_of(from), memory);
}

Duration least_transfer_of(const Problem& problem, EdgeId edge, DeviceId from, DeviceId to) {
  const Machine& machine = problem.machine;
  const MemoryId memory = machine.memory_of(to);
  if (machine.memory_of(from) == memory) return Duration{0};
  const Duration own = problem.costs.transfer_time(edge, from, to);
  // A time that is given for this very edge counts in any case; a route's may be replaced by what
  // is given for another reader of the same memory.
  if (!problem.costs.has_given_transfers() || problem.costs.given_transfer(edge, from, to)) {
    return own;
  }
  Duration least = own;
  for (const EdgeId other : problem.graph.consumers(problem.graph.edge_value(edge))) {
    for (const DeviceId device : problem.machine.devices()) {
      if (machine.memory_of(device) != memory) continue;
      least = std::min(least, problem.costs.given_transfer(other, from, device).value_or(least));
    }
  }
  return least;
}

Duration input_arrival(const Problem& problem, ValueId input, DeviceId device) {
  const MemoryId home = problem.home(input);
  const MemoryId memory = problem.machine.memory_of(device);
  if (!home.valid() || home == memory) return Duration{0};
  return problem.costs.transfer_time(input, home, memory);
}

PlacedProblem::PlacedProblem(const Problem& problem) : problem_(problem) {
  const auto ops = static_cast<size_t>(problem.graph.size());
  run_time_.resize(ops);
  inputs_at_.resize(ops);
  travelling_.resize(ops);
  head_.resize(ops);
  tail_.resize(ops);
  left_.resize(ops);
  transfer_.assign(static_cast<size_t>(problem.graph.edge_count()), Duration{0});
  ops_on_.resize(static_cast<size_t>(problem.machine.size()));
}

void PlacedProblem::place(const std::vector<DeviceId>& placement) {
  const Graph& graph = problem_.graph;
  placement_ = placement;
  for (std::vector<OpId>& ops : ops_on_) ops.clear();
  const auto order = graph.topological_order();
  for (const OpId op : order) {
    const DeviceId device = placement_[op.index];
    ops_on_[static_cast<size_t>(device.index)].push_back(op);
    run_time_[op.index] = problem_.costs.run_time(op, device);
    inputs_at_[op.index] = Duration{0};
    travelling_[op.index] = 0;
    Duration head{0};
    for (const EdgeId edge : graph.edges(op)) {
      const OpId producer = graph.edge_from(edge);
      if (producer.valid()) {
        transfer_[edge.index] = transfer_of(problem_, placement_, edge);
        head = std::max(head, head_[producer.index] + run_time_[producer.index] + transfer(edge));
        continue;
      }
      const ValueId input = graph.edge_value(edge);
      const MemoryId home = problem_.home(input);
      if (home.valid() && home != problem_.machine.memory_of(device)) travelling_[op.index] = 1;
      inputs_at_[op.index] = std::max(inputs_at_[op.index], input_arrival(problem_, input, device));
    }
    head_[op.index] = std::max(head, inputs_at_[op.index]);
  }
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    Duration rest{0};
    for (const EdgeId edge : graph.out_edges(*it)) {
      rest = std::max(rest, transfer(edge) + tail_[graph.edge_to(edge).index]);
    }
    tail_[it->index] = run_time_[it->index] + rest;
  }
}

Duration PlacedProblem::lower_bound() {
  return lower_bound(head_);
}

Duration PlacedProblem::lower_bound(const std::vector<Duration>& heads) {
  Duration bound{0};
  for (const OpId op : graph().ops()) {
    if (heads[op.index] != kNever) bound = std::max(bound, heads[op.index] + tail_[op.index]);
  }
  for (const DeviceId device : problem_.machine.devices()) {
    if (problem_.machine.device(device).slots > 1) continue;
    bound = std::max(bound, bound_of_device(heads, ops_on_[static_cast<size_t>(device.index)]));
  }
  return bound;
}

// Of the ops that are there, the one with the longest path after it runs, until another comes.
Duration PlacedProblem::bound_of_device(const std::vector<Duration>& heads,
                                        const std::vector<OpId>& ops) {
  by_head_.clear();
  for (const OpId op : ops) {
    if (heads[op.index] == kNever) continue;
    by_head_.push_back(op);
    left_[op.index] = run_time_[op.index];
  }
  std::sort(by_head_.begin(), by_head_.end(),
            [&](OpId a, OpId b) { return heads[a.index] < heads[b.index]; });
  Duration bound{0};
  Duration now{0};
  waiting_.clear();  // a heap: the longest rest on top
  size_t next = 0;
  while (next < by_head_.size() || !waiting_.empty()) {
    if (waiting_.empty()) now = std::max(now, heads[by_head_[next].index]);
    for (; next < by_head_.size() && heads[by_head_[next].index] <= now; ++next) {
      const OpId op = by_head_[next];
      waiting_.emplace_back(tail_[op.index] - run_time_[op.index], op.index);
      std::push_heap(waiting_.begin(), waiting_.end());
    }
    const auto [rest, op] = waiting_.front();
    const Duration until = next < by_head_.size() ? heads[by_head_[next].index] : now + left_[op];
    const Duration run = std::min(left_[op], until - now);
    now += run;
    left_[op] -= run;
    if (left_[op].count() > 0) continue;
    bound = std::max(bound, now + rest);
    std::pop_heap(waiting_.begin(), waiting_.end());
    waiting_.pop_back();
  }
  return bound;
}

}  // namespace tutti
