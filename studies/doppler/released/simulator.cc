#include "studies/doppler/released/simulator.h"

#include <algorithm>

namespace tutti {
namespace {

constexpr int64_t kIdle = kNever.count();

}  // namespace

ReleasedSimulator::ReleasedSimulator(const Problem& problem)
    : problem_(problem),
      one_transfer_time_(problem.costs.transfers_are_uniform()),
      tail_(least_tails(problem)) {
  const Graph& graph = problem.graph;
  const auto ops = static_cast<size_t>(graph.size());
  const auto devices = static_cast<size_t>(problem.machine.size());
  edge_count_.assign(ops, 0);
  reader_begin_.push_back(0);
  for (const OpId op : graph.ops()) {
    for (const EdgeId edge : graph.out_edges(op)) {
      const Duration time = one_transfer_time_ && devices > 1
                                ? problem.costs.transfer_time(edge, DeviceId{0}, DeviceId{1})
                                : Duration{0};
      readers_.push_back({graph.edge_to(edge).index, edge.index, time.count()});
      ++edge_count_[graph.edge_to(edge).index];
    }
    reader_begin_.push_back(static_cast<int32_t>(readers_.size()));
  }
  latest_.resize(ops);
  next_.resize(ops);
  start_ns_.resize(ops);
  finish_ns_.resize(ops);
  device_of_.resize(ops);
  decided_by_.resize(ops);
  heap_.resize(ops + 1);
  running_.resize(devices);
  queue_head_.resize(devices);
  queue_tail_.resize(devices);
  busy_until_.resize(devices);
  busy_turn_.resize(devices);
}

void ReleasedSimulator::reset() {
  missing_ = edge_count_;
  std::fill(latest_.begin(), latest_.end(), Arrival{0, -1, 0});
  std::fill(decided_by_.begin(), decided_by_.end(), OpId{});
  std::fill(running_.begin(), running_.end(), -1);
  std::fill(queue_head_.begin(), queue_head_.end(), -1);
  std::fill(busy_until_.begin(), busy_until_.end(), kIdle);
  heap_size_ = 0;
  turn_ = 0;
  latest_end_ns_ = 0;
}

void ReleasedSimulator::push(Arrival arrival) {
  size_t hole = heap_size_++;
  while (hole > 0) {
    const size_t parent = (hole - 1) / 2;
    if (!(arrival < heap_[parent])) break;
    heap_[hole] = heap_[parent];
    hole = parent;
  }
  heap_[hole] = arrival;
}

ReleasedSimulator::Arrival ReleasedSimulator::pop() {
  const Arrival top = heap_[0];
  const Arrival last = heap_[--heap_size_];
  size_t hole = 0;
  for (;;) {
    size_t child = 2 * hole + 1;
    if (child >= heap_size_) break;
    if (child + 1 < heap_size_ && heap_[child + 1] < heap_[child]) ++child;
    if (!(heap_[child] < last)) break;
    heap_[hole] = heap_[child];
    hole = child;
  }
  heap_[hole] = last;
  return top;
}

void ReleasedSimulator::start(int32_t op, int32_t device, int64_t now) {
  const int64_t done = now + problem_.costs.run_time(OpId{op}, DeviceId{device}).count();
  running_[device] = op;
  busy_until_[device] = done;
  busy_turn_[device] = turn_++;
  start_ns_[op] = now;
  finish_ns_[op] = done;
  latest_end_ns_ = std::max(latest_end_ns_, now + tail_[static_cast<size_t>(op)].count());
}

void ReleasedSimulator::enqueue(int32_t op, int64_t now, std::span<const DeviceId> placement) {
  const int32_t device = placement[op].index;
  device_of_[op] = device;
  if (running_[device] < 0) {
    start(op, device, now);
    return;
  }
  next_[op] = -1;
  if (queue_head_[device] < 0) {
    queue_head_[device] = op;
  } else {
    next_[queue_tail_[device]] = op;
  }
  queue_tail_[device] = op;
}

int64_t ReleasedSimulator::transfer_ns(const Reader& reader, DeviceId from, DeviceId to) const {
  if (from == to) return 0;
  if (one_transfer_time_) return reader.transfer_ns;
  return problem_.costs.transfer_time(EdgeId{reader.edge}, from, to).count();
}

void ReleasedSimulator::finish_on(int32_t device, std::span<const DeviceId> placement) {
  const int32_t op = running_[device];
  const int64_t now = busy_until_[device];
  running_[device] = -1;
  busy_until_[device] = kIdle;
  if (queue_head_[device] >= 0) {
    const int32_t waiting = queue_head_[device];
    queue_head_[device] = next_[waiting];
    if (latest_[waiting].time < now) decided_by_[waiting] = OpId{op};
    start(waiting, device, now);
  }
  for (int32_t i = reader_begin_[op]; i < reader_begin_[op + 1]; ++i) {
    const Reader& reader = readers_[i];
    const Arrival arrival{now + transfer_ns(reader, DeviceId{device}, placement[reader.op]),
                          turn_++, reader.op};
    Arrival& latest = latest_[reader.op];
    if (latest.turn < 0 || latest < arrival) {
      latest = arrival;
      decided_by_[reader.op] = OpId{op};
    }
    if (--missing_[reader.op] == 0) push(latest);
  }
}

Duration ReleasedSimulator::evaluate(std::span<const DeviceId> placement, Duration give_up_beyond) {
  reset();
  const auto ops = static_cast<int32_t>(placement.size());
  for (int32_t op = 0; op < ops; ++op) {
    if (edge_count_[op] == 0) enqueue(op, 0, placement);
  }
  const auto devices = static_cast<int32_t>(running_.size());
  int64_t makespan = 0;
  for (;;) {
    int32_t first = 0;
    for (int32_t device = 1; device < devices; ++device) {
      const bool earlier =
          busy_until_[device] < busy_until_[first] ||
          (busy_until_[device] == busy_until_[first] && busy_turn_[device] < busy_turn_[first]);
      if (earlier) first = device;
    }
    const bool busy = busy_until_[first] != kIdle;
    if (heap_size_ > 0 && (!busy || heap_[0] < Arrival{busy_until_[first], busy_turn_[first], 0})) {
      const Arrival arrival = pop();
      enqueue(arrival.op, arrival.time, placement);
      continue;
    }
    if (!busy) break;
    makespan = std::max(makespan, busy_until_[first]);
    finish_on(first, placement);
    if (latest_end_ns_ > give_up_beyond.count()) return kNever;
  }
  return Duration(makespan);
}

Trace ReleasedSimulator::trace() const {
  Trace trace;
  trace.runtime = {.name = "sim", .model = "released"};
  trace.graph_fingerprint = problem_.graph.fingerprint();
  trace.machine_fingerprint = problem_.machine.fingerprint();
  for (const OpId op : problem_.graph.ops()) {
    const Duration start(start_ns_[op.index]);
    const Duration finish(finish_ns_[op.index]);
    trace.ops.push_back({.op = op,
                         .device = DeviceId{device_of_[op.index]},
                         .slot = 0,
                         .start = start,
                         .finish = finish});
    trace.makespan = std::max(trace.makespan, finish);
  }
  return trace;
}

}  // namespace tutti
