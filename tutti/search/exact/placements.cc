#include "tutti/search/exact/placements.h"

#include <algorithm>

namespace tutti {

Placements::Placements(const Problem& problem, Incumbent& incumbent)
    : problem_(problem), graph_(problem.graph), incumbent_(incumbent), placed_(problem) {
  const auto ops = static_cast<size_t>(graph_.size());
  placement_.assign(ops, DeviceId{});
  earliest_end_.assign(ops, Duration{0});
  load_.assign(static_cast<size_t>(problem.machine.size()), Duration{0});
  for (const DeviceId device : problem.machine.devices()) {
    slots_ += problem.machine.device(device).slots;
  }
  alike_ = all_devices_alike();
  find_rests();
}

// Devices that can be renamed without changing anything need only be tried in order.
bool Placements::all_devices_alike() const {
  if (problem_.costs.device_class_count() > 1 || !problem_.costs.transfers_are_uniform()) {
    return false;
  }
  for (const DeviceId device : problem_.machine.devices()) {
    if (problem_.machine.device(device).slots != problem_.machine.device(DeviceId{0}).slots) {
      return false;
    }
  }
  for (const OpId op : graph_.ops()) {
    if (problem_.devices_for(op).size() != static_cast<size_t>(problem_.machine.size())) {
      return false;
    }
  }
  for (const ValueId value : graph_.values()) {
    if (!graph_.producer(value).valid() && problem_.home(value).valid()) return false;
  }
  return true;
}

void Placements::find_rests() {
  quickest_.assign(static_cast<size_t>(graph_.size()), kNever);
  rest_.assign(static_cast<size_t>(graph_.size()), Duration{0});
  const auto order = graph_.topological_order();
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    for (const DeviceId device : problem_.devices_for(*it)) {
      quickest_[it->index] = std::min(quickest_[it->index], problem_.costs.run_time(*it, device));
    }
    work_left_ += quickest_[it->index];
    for (const EdgeId edge : graph_.edges(*it)) {
      const OpId producer = graph_.edge_from(edge);
      if (!producer.valid()) continue;
      rest_[producer.index] =
          std::max(rest_[producer.index], quickest_[it->index] + rest_[it->index]);
    }
  }
}

void Placements::visit(const std::function<void(PlacedProblem&)>& each) {
  place(0, 0, each);
}

Duration Placements::earliest_start(OpId op, DeviceId device) const {
  Duration start{0};
  for (const EdgeId edge : graph_.edges(op)) {
    const OpId producer = graph_.edge_from(edge);
    if (producer.valid()) {
      start = std::max(start,
                       earliest_end_[producer.index] +
                           least_transfer_of(problem_, edge, placement_[producer.index], device));
    } else {
      start = std::max(start, input_arrival(problem_, graph_.edge_value(edge), device));
    }
  }
  return start;
}

DeviceId Placements::device_of_group(OpId op) const {
  const int group = problem_.colocation_group(op);
  if (group < 0) return {};
  for (const OpId member : problem_.members(group)) {
    if (placement_[member.index].valid()) return placement_[member.index];
  }
  return {};
}

// With the op on that device, whose load has it already.
bool Placements::may_be_better(OpId op, DeviceId device) {
  const Duration best = incumbent_.makespan();
  if (best == kNever) return true;
  if (load_[device.index] / problem_.machine.device(device).slots >= best) return false;
  if ((work_placed_ + work_left_) / slots_ >= best) return false;
  return earliest_end_[op.index] + rest_[op.index] < best;
}

void Placements::place(size_t index, int32_t used,
                       const std::function<void(PlacedProblem&)>& each) {
  if (incumbent_.over()) return;
  const auto order = graph_.topological_order();
  if (index == order.size()) {
    placed_.place(placement_);
    if (placed_.lower_bound() < incumbent_.makespan()) each(placed_);
    return;
  }
  const OpId op = order[index];
  const DeviceId bound_to = device_of_group(op);
  work_left_ -= quickest_[op.index];
  for (const DeviceId device : problem_.devices_for(op)) {
    if (bound_to.valid() && device != bound_to) continue;
    if (alike_ && device.index > used) break;
    const Duration time = problem_.costs.run_time(op, device);
    load_[device.index] += time;
    work_placed_ += time;
    earliest_end_[op.index] = earliest_start(op, device) + time;
    if (may_be_better(op, device)) {
      placement_[op.index] = device;
      place(index + 1, std::max(used, device.index + 1), each);
      placement_[op.index] = DeviceId{};
    }
    work_placed_ -= time;
    load_[device.index] -= time;
  }
  work_left_ += quickest_[op.index];
}

}  // namespace tutti
