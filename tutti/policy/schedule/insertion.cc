#include "tutti/policy/schedule/insertion.h"

#include <algorithm>

#include "tutti/policy/schedule/memory.h"

namespace tutti {

InsertionSchedule::InsertionSchedule(const Problem& problem) : problem_(problem) {
  const auto ops = static_cast<size_t>(problem.graph.size());
  plan_.placement.resize(ops);
  plan_.priority.resize(ops);
  plan_.start.resize(ops);
  plan_.finish.resize(ops);
  for (const DeviceId device : problem.machine.devices()) {
    slot_begin_.push_back(static_cast<int>(timelines_.size()));
    timelines_.resize(timelines_.size() +
                      static_cast<size_t>(problem.machine.device(device).slots));
  }
  slot_begin_.push_back(static_cast<int>(timelines_.size()));
  group_device_.resize(static_cast<size_t>(problem.colocation_group_count()));
}

Duration InsertionSchedule::arrival(OpId op, DeviceId device) const {
  const Graph& graph = problem_.graph;
  Duration latest{0};
  for (const EdgeId edge : graph.edges(op)) {
    const OpId producer = graph.edge_from(edge);
    if (producer.valid()) {
      const DeviceId from = plan_.placement[producer.index];
      Duration there = plan_.finish[producer.index];
      if (from != device) there += problem_.costs.transfer_time(edge, from, device);
      latest = std::max(latest, there);
      continue;
    }
    const ValueId value = graph.edge_value(edge);
    if (const MemoryId home = problem_.home(value); home.valid()) {
      latest = std::max(
          latest, problem_.costs.transfer_time(value, home, problem_.machine.memory_of(device)));
    }
  }
  return latest;
}

InsertionSchedule::Option InsertionSchedule::best_on(OpId op, DeviceId device) const {
  const Duration length = problem_.costs.run_time(op, device);
  const Duration ready = arrival(op, device);
  Option best;
  for (int slot = slot_begin_[device.index]; slot < slot_begin_[device.index + 1]; ++slot) {
    const Duration start = timelines_[static_cast<size_t>(slot)].earliest_start(ready, length);
    if (start + length < best.finish) {
      best = {.device = device, .slot = slot, .start = start, .finish = start + length};
    }
  }
  return best;
}

std::span<const DeviceId> InsertionSchedule::devices_for(OpId op) const {
  if (const int group = problem_.colocation_group(op); group >= 0) {
    const DeviceId& device = group_device_[static_cast<size_t>(group)];
    if (device.valid()) return {&device, 1};
  }
  return problem_.devices_for(op);
}

InsertionSchedule::Option InsertionSchedule::best(OpId op) const {
  Option best;
  for (const DeviceId device : devices_for(op)) {
    const Option option = best_on(op, device);
    if (option.finish < best.finish) best = option;
  }
  return best;
}

void InsertionSchedule::place(OpId op, const Option& option) {
  plan_.placement[op.index] = option.device;
  plan_.priority[op.index] = option.start.count();
  plan_.start[op.index] = option.start;
  plan_.finish[op.index] = option.finish;
  plan_.planned_makespan = std::max(plan_.planned_makespan.value_or(Duration{0}), option.finish);
  timelines_[static_cast<size_t>(option.slot)].add(option.start, option.finish - option.start);
  if (const int group = problem_.colocation_group(op); group >= 0) {
    group_device_[static_cast<size_t>(group)] = option.device;
  }
}

Result<Plan> InsertionSchedule::to_plan() && {
  if (Result<void> room = require_room(problem_, plan_.placement); !room) return room.error();
  return std::move(plan_);
}

}  // namespace tutti
