#include "tutti/runtime/streams.h"

#include <algorithm>
#include <functional>

namespace tutti {

Streams::Streams(const Problem& problem) : problem_(problem) {
  if (!problem.has_homed_weights()) return;
  number_.assign(static_cast<size_t>(problem.graph.value_count()), -1);
  int32_t count = 0;
  for (const ValueId weight : problem.homed_weights()) number_[weight.index] = count++;
  lanes_.resize(static_cast<size_t>(problem.machine.memory_count()));
  held_.resize(static_cast<size_t>(count) * lanes_.size());
  streamed_.resize(static_cast<size_t>(problem.graph.size()));
}

void Streams::begin(const Plan& plan, std::span<const MemoryId> memory_of_op) {
  active_ = plan.weights.stated() && problem_.has_homed_weights();
  if (!active_) return;
  has_room_ = true;
  memory_of_.assign(memory_of_op.begin(), memory_of_op.end());
  awaited_.assign(memory_of_.size(), 0);
  for (Held& copy : held_) {
    copy.readers = 0;
    copy.present = false;
    copy.kept = false;
    copy.room_by = OpId{};
    copy.waiting.clear();
  }
  for (size_t i = 0; i < lanes_.size(); ++i) {
    lanes_[i].items.clear();
    lanes_[i].next = 0;
    lanes_[i].left = plan.weights.stream_buffer_bytes[i];
    lanes_[i].freed_by = OpId{};
    for (const ValueId weight : plan.weights.kept[i]) {
      held(weight, MemoryId{static_cast<int32_t>(i)}).kept = true;
    }
  }
  order_ops(plan);
  for (const OpId op : order_) add_items(op, memory_of_[op.index], plan.weights);
}

// Kahn's order, the op of smallest priority first. If the strict order contradicts the graph, what
// is behind the contradiction is left out: it never runs.
void Streams::order_ops(const Plan& plan) {
  const Graph& graph = problem_.graph;
  order_.clear();
  ready_.clear();
  waits_for_.assign(memory_of_.size(), 0);
  next_on_device_.assign(memory_of_.size(), OpId{});
  for (const std::vector<OpId>& order : plan.strict_order) {
    for (size_t i = 1; i < order.size(); ++i) {
      next_on_device_[order[i - 1].index] = order[i];
      ++waits_for_[order[i].index];
    }
  }
  const auto release = [&](OpId op) {
    ready_.emplace_back(plan.priority[op.index], op.index);
    std::push_heap(ready_.begin(), ready_.end(), std::greater<>());
  };
  for (const OpId op : graph.ops()) {
    waits_for_[op.index] += graph.made_operands(op);
    if (waits_for_[op.index] == 0) release(op);
  }
  while (!ready_.empty()) {
    std::pop_heap(ready_.begin(), ready_.end(), std::greater<>());
    const OpId op{ready_.back().second};
    ready_.pop_back();
    order_.push_back(op);
    for (const EdgeId edge : graph.out_edges(op)) {
      const OpId reader = graph.edge_to(edge);
      if (--waits_for_[reader.index] == 0) release(reader);
    }
    const OpId next = next_on_device_[op.index];
    if (next.valid() && --waits_for_[next.index] == 0) release(next);
  }
}

void Streams::add_items(OpId op, MemoryId memory, const WeightKeeping& keeping) {
  Lane& lane = lanes_[static_cast<size_t>(memory.index)];
  find_streamed(problem_, keeping, op, memory, streamed_[op.index]);
  for (const ValueId weight : streamed_[op.index]) {
    lane.items.push_back({.op = op, .weight = weight});
    ++awaited_[op.index];
  }
  if (!problem_.cold()) return;
  ValueId before{};
  for (const ValueId value : problem_.graph.operands(op)) {
    if (!manages(value) || value == before || !held(value, memory).kept) continue;
    std::vector<OpId>& waiting = held(value, memory).waiting;
    if (!waiting.empty() && waiting.back() == op) continue;
    if (waiting.empty()) lane.items.push_back({.op = op, .weight = value});  // loaded once
    waiting.push_back(op);
    ++awaited_[op.index];
    before = value;
  }
}

void Streams::issue(std::vector<Copy>& copies, std::vector<Served>& served) {
  if (!has_room_) return;
  has_room_ = false;
  for (size_t i = 0; i < lanes_.size(); ++i) issue_in(static_cast<int32_t>(i), copies, served);
}

// Loads of kept weights need no buffer: they pass streams that wait for it.
void Streams::issue_in(int32_t memory, std::vector<Copy>& copies, std::vector<Served>& served) {
  Lane& lane = lanes_[static_cast<size_t>(memory)];
  const MemoryId to{memory};
  bool full = false;
  for (size_t i = lane.next; i < lane.items.size(); ++i) {
    const Item item = lane.items[i];
    Held& copy = held(item.weight, to);
    if (copy.kept) {
      if (copy.readers == 0) copies.push_back({.weight = item.weight, .to = to});
      copy.readers = 1;  // it has set out
    } else if (!full && copy.readers > 0) {
      ++copy.readers;
      if (copy.present) {
        served.push_back({.op = item.op, .room_by = copy.room_by});
      } else {
        copy.waiting.push_back(item.op);
      }
    } else if (!full && problem_.graph.bytes(item.weight) <= lane.left) {
      lane.left -= problem_.graph.bytes(item.weight);
      copy.readers = 1;
      copy.room_by = lane.freed_by;
      copy.waiting.assign(1, item.op);
      copies.push_back({.weight = item.weight, .to = to});
    } else {
      full = true;
      if (!problem_.cold()) return;
    }
    if (!full) lane.next = i + 1;
  }
}

void Streams::arrive(ValueId weight, MemoryId memory, std::vector<Served>& served) {
  Held& copy = held(weight, memory);
  copy.present = true;
  for (const OpId op : copy.waiting) served.push_back({.op = op, .room_by = copy.room_by});
  copy.waiting.clear();
}

void Streams::finish(OpId op, std::vector<Copy>* dropped) {
  const MemoryId memory = memory_of_[op.index];
  Lane& lane = lanes_[static_cast<size_t>(memory.index)];
  for (const ValueId weight : streamed_[op.index]) {
    Held& copy = held(weight, memory);
    if (--copy.readers > 0) continue;
    copy.present = false;
    if (dropped != nullptr) dropped->push_back({.weight = weight, .to = memory});
    lane.left += problem_.graph.bytes(weight);
    lane.freed_by = op;
    has_room_ = true;
  }
}

OpId Streams::stuck() const {
  for (const Lane& lane : lanes_) {
    if (lane.next < lane.items.size()) return lane.items[lane.next].op;
  }
  return {};
}

}  // namespace tutti
