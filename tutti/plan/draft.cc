#include "tutti/plan/draft.h"

#include <algorithm>
#include <utility>

#include "tutti/base/check.h"

namespace tutti {

Draft::Draft(const Problem& problem, double memory_share)
    : problem_(problem), memory_share_(memory_share) {
  const Graph& graph = problem.graph;
  const auto ops = static_cast<size_t>(graph.size());
  missing_.assign(ops, 0);
  ready_position_.assign(ops, 0);
  placement_.assign(ops, DeviceId{});
  start_.assign(ops, Duration{0});
  finish_.assign(ops, Duration{0});
  for (const OpId op : graph.ops()) {
    missing_[op.index] += graph.made_operands(op);
    if (missing_[op.index] > 0) continue;
    ready_position_[op.index] = static_cast<int32_t>(ready_.size());
    ready_.push_back(op);
  }
  for (const DeviceId device : problem.machine.devices()) {
    slot_begin_.push_back(static_cast<int>(slot_free_.size()));
    slot_free_.resize(slot_free_.size() + static_cast<size_t>(problem.machine.device(device).slots),
                      Duration{0});
  }
  slot_begin_.push_back(static_cast<int>(slot_free_.size()));
  group_device_.resize(static_cast<size_t>(problem.colocation_group_count()));
  if (problem.has_memory_limits()) {
    const auto values = static_cast<size_t>(graph.value_count());
    memory_used_.assign(static_cast<size_t>(problem.machine.memory_count()), 0);
    unplaced_readers_.resize(values);
    for (const ValueId value : graph.values()) {
      unplaced_readers_[value.index] = static_cast<int32_t>(graph.consumers(value).size());
    }
    if (problem.weights_are_streamed()) {
      for (const ValueId weight : problem.homed_weights()) {
        memory_used_[static_cast<size_t>(problem.home(weight).index)] += graph.bytes(weight);
      }
    }
    readers_in_.assign(values * memory_used_.size(), 0);
    looked_at_.assign(values, 0);
  }
}

Duration Draft::free_at(DeviceId device) const {
  return *std::min_element(slot_free_.begin() + slot_begin_[device.index],
                           slot_free_.begin() + slot_begin_[device.index + 1]);
}

// What placing the op adds to a memory: its outputs, its transient memory, and those operands that
// are not there yet.
int64_t Draft::memory_need(OpId op, MemoryId memory) const {
  const Graph& graph = problem_.graph;
  int64_t need = graph.transient_bytes(op);
  for (const ValueId value : graph.outputs(op)) need += graph.bytes(value);
  ++look_;
  for (const ValueId value : graph.operands(op)) {
    if (looked_at_[value.index] == look_) continue;  // read twice, held once
    looked_at_[value.index] = look_;
    const OpId producer = graph.producer(value);
    const bool made_there =
        producer.valid() && problem_.machine.memory_of(placement_[producer.index]) == memory;
    if (is_streamed(value)) {  // there while the op runs
      if (problem_.home(value) != memory) need += graph.bytes(value);
      continue;
    }
    const bool read_there = readers_in_[static_cast<size_t>(value.index) * memory_used_.size() +
                                        static_cast<size_t>(memory.index)] > 0;
    if (!made_there && !read_there) need += graph.bytes(value);
  }
  return need;
}

std::span<const DeviceId> Draft::devices_for(OpId op) const {
  const std::span<const DeviceId> allowed = problem_.devices_for(op);
  const int group = problem_.colocation_group(op);
  const bool follows = group >= 0 && group_device_[static_cast<size_t>(group)].valid();
  if (!follows && memory_used_.empty()) return allowed;
  choices_.clear();
  if (follows) {
    choices_.push_back(group_device_[static_cast<size_t>(group)]);
  } else {
    choices_.assign(allowed.begin(), allowed.end());
  }
  if (!memory_used_.empty()) {
    std::erase_if(choices_, [&](DeviceId device) {
      return memory_need(op, problem_.machine.memory_of(device)) > memory_left(device);
    });
  }
  return choices_;
}

int64_t Draft::memory_left(DeviceId device) const {
  if (memory_used_.empty()) return kUnlimitedBytes;
  const MemoryId memory = problem_.machine.memory_of(device);
  const int64_t limit = problem_.memory_limit(memory);
  if (limit == kUnlimitedBytes) return limit;
  return static_cast<int64_t>(static_cast<double>(limit) * memory_share_) -
         memory_used_[memory.index];
}

// A value occupies the memory it is made in until its last reader is placed, and every other memory
// with a reader likewise; weights and values without readers stay. Transient memory is not kept:
// ops of a draft follow one another.
void Draft::account_memory(OpId op, DeviceId device) {
  const Graph& graph = problem_.graph;
  const auto memories = memory_used_.size();
  const auto memory = static_cast<size_t>(problem_.machine.memory_of(device).index);
  const auto release = [&](ValueId value, int64_t bytes) {
    const OpId producer = graph.producer(value);
    const MemoryId made_in =
        producer.valid() ? problem_.machine.memory_of(placement_[producer.index]) : MemoryId{};
    for (size_t m = 0; m < memories; ++m) {
      const bool copy = readers_in_[static_cast<size_t>(value.index) * memories + m] > 0;
      if (copy || made_in.index == static_cast<int32_t>(m)) memory_used_[m] -= bytes;
    }
  };
  for (const ValueId value : graph.outputs(op)) memory_used_[memory] += graph.bytes(value);
  for (const ValueId value : graph.operands(op)) {
    if (is_streamed(value)) continue;
    const OpId producer = graph.producer(value);
    const bool stays = !producer.valid() && graph.is_weight(value);
    const bool made_there =
        producer.valid() && problem_.machine.memory_of(placement_[producer.index]).index ==
                                static_cast<int32_t>(memory);
    int32_t& here = readers_in_[static_cast<size_t>(value.index) * memories + memory];
    if (++here == 1 && !made_there) memory_used_[memory] += graph.bytes(value);
    if (--unplaced_readers_[value.index] == 0 && !stays) release(value, graph.bytes(value));
  }
}

void Draft::apply(OpId op, DeviceId device) {
  apply_at(op, device, earliest_start(op, device));
}

void Draft::apply_at(OpId op, DeviceId device, Duration start) {
  TUTTI_CHECK(!placement_[op.index].valid() && missing_[op.index] == 0);
  const int position = ready_position_[op.index];
  const auto slot = std::min_element(slot_free_.begin() + slot_begin_[device.index],
                                     slot_free_.begin() + slot_begin_[device.index + 1]);
  placement_[op.index] = device;
  start_[op.index] = start;
  finish_[op.index] = start + problem_.costs.run_time(op, device);
  *slot = std::max(*slot, finish_[op.index]);
  makespan_ = std::max(makespan_, finish_[op.index]);
  if (const int group = problem_.colocation_group(op); group >= 0) {
    DeviceId& first = group_device_[static_cast<size_t>(group)];
    if (!first.valid()) first = device;
  }
  if (!memory_used_.empty()) account_memory(op, device);
  // The last ready op takes the gap, so that the cost does not grow with the number of ready ops.
  ready_[static_cast<size_t>(position)] = ready_.back();
  ready_position_[ready_.back().index] = position;
  ready_.pop_back();
  for (const EdgeId edge : problem_.graph.out_edges(op)) {
    const OpId reader = problem_.graph.edge_to(edge);
    if (--missing_[reader.index] > 0) continue;
    ready_position_[reader.index] = static_cast<int32_t>(ready_.size());
    ready_.push_back(reader);
  }
  ++placed_count_;
}

Plan Draft::to_plan() const {
  TUTTI_CHECK(complete());
  Plan plan;
  plan.placement = placement_;
  plan.start = start_;
  plan.finish = finish_;
  plan.planned_makespan = makespan_;
  plan.priority.resize(placement_.size());
  for (size_t i = 0; i < start_.size(); ++i) plan.priority[i] = start_[i].count();
  return plan;
}

}  // namespace tutti
