#include "tutti/plan/bound/instance.h"

#include <algorithm>
#include <numeric>

#include "tutti/plan/bound/classes.h"

namespace tutti::bound {
namespace {

// The least time from the end of the value's producer to the start of a reader on another device.
// Readers on one device may share one transfer, so a short one that was given for some edge may
// serve the others.
Duration least_transfer_time(const Problem& problem, ValueId value) {
  const Costs& costs = problem.costs;
  Duration least = kNever;
  for (const EdgeId edge : problem.graph.consumers(value)) {
    least = std::min(least, costs.least_transfer_time(edge));
    if (!costs.has_given_transfers()) break;  // it depends on the value alone
  }
  return least;
}

Neighbours predecessors(const Problem& problem) {
  const Graph& graph = problem.graph;
  std::vector<Ticks> transfer(graph.value_count());
  for (const ValueId value : graph.values()) {
    if (!graph.producer(value).valid()) continue;
    transfer[value.index] = least_transfer_time(problem, value).count();
  }
  Neighbours before;
  for (const OpId op : graph.ops()) {
    for (const ValueId value : graph.operands(op)) {
      const OpId producer = graph.producer(value);
      if (producer.valid()) before.add({.op = producer, .transfer = transfer[value.index]});
    }
    before.close();
  }
  return before;
}

// The largest time that divides all of the instance's; 1 if all are zero.
Ticks greatest_tick(const Instance& instance) {
  Ticks tick = 0;
  for (const Neighbour& neighbour : instance.before[kFromStart].all()) {
    tick = std::gcd(tick, neighbour.transfer);
    if (tick == 1) return 1;
  }
  for (const Ticks run : instance.run_times) {
    if (run != kImpossible) tick = std::gcd(tick, run);
    if (tick == 1) return 1;
  }
  return std::max<Ticks>(tick, 1);
}

void divide_times(Instance& instance, Ticks tick) {
  instance.tick = Duration(tick);
  if (tick == 1) return;
  instance.before[kFromStart].divide(tick);
  for (Ticks& run : instance.run_times) {
    if (run != kImpossible) run /= tick;
  }
}

std::vector<Ticks> shortest_run_times(const Instance& instance) {
  std::vector<Ticks> shortest(instance.size, kUnreachable);
  for (int32_t op = 0; op < instance.size; ++op) {
    for (size_t c = 0; c < instance.classes.size(); ++c) {
      const Ticks run = instance.run_time(OpId{op}, c);
      if (run != kImpossible) shortest[op] = std::min(shortest[op], run);
    }
  }
  return shortest;
}

}  // namespace

void Neighbours::close() {
  const auto first = items_.begin() + static_cast<ptrdiff_t>(begin_.back());
  std::sort(first, items_.end(), [](const Neighbour& a, const Neighbour& b) {
    return a.op != b.op ? a.op < b.op : a.transfer > b.transfer;
  });
  const auto same_op = [](const Neighbour& a, const Neighbour& b) { return a.op == b.op; };
  items_.erase(std::unique(first, items_.end(), same_op), items_.end());
  begin_.push_back(items_.size());
}

Neighbours Neighbours::turned_round() const {
  Neighbours turned;
  turned.begin_.assign(begin_.size(), 0);
  turned.items_.resize(items_.size());
  for (const Neighbour& item : items_) ++turned.begin_[item.op.index + 1];
  std::partial_sum(turned.begin_.begin(), turned.begin_.end(), turned.begin_.begin());
  std::vector<size_t> next = turned.begin_;
  for (int32_t op = 0; op + 1 < static_cast<int32_t>(begin_.size()); ++op) {
    for (const Neighbour& item : (*this)[OpId{op}]) {
      turned.items_[next[item.op.index]++] = {.op = OpId{op}, .transfer = item.transfer};
    }
  }
  return turned;
}

void Neighbours::divide(Ticks tick) {
  for (Neighbour& item : items_) item.transfer /= tick;
}

Instance make_instance(const Problem& problem) {
  Instance instance;
  instance.size = problem.graph.size();
  instance.classes = device_classes(problem);
  instance.run_times = run_times_of(problem, instance.classes);
  for (const DeviceClass& kind : instance.classes) instance.slots += kind.slots();
  instance.before[kFromStart] = predecessors(problem);
  divide_times(instance, greatest_tick(instance));
  instance.shortest = shortest_run_times(instance);
  instance.before[kFromEnd] = instance.before[kFromStart].turned_round();
  const std::span<const OpId> order = problem.graph.topological_order();
  instance.order[kFromStart].assign(order.begin(), order.end());
  instance.order[kFromEnd].assign(order.rbegin(), order.rend());
  return instance;
}

}  // namespace tutti::bound
