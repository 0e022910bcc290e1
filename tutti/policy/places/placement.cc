#include "tutti/policy/places/placement.h"

#include <algorithm>

#include "tutti/policy/schedule/contention.h"
#include "tutti/policy/schedule/memory.h"
#include "tutti/policy/schedule/order.h"
#include "tutti/policy/schedule/ready_queue.h"

namespace tutti {

Placement::Placement(const Problem& problem)
    : problem_(problem),
      devices_(static_cast<size_t>(problem.graph.size())),
      group_device_(static_cast<size_t>(problem.colocation_group_count())) {}

std::span<const DeviceId> Placement::choices(OpId op) const {
  if (const int group = problem_.colocation_group(op); group >= 0) {
    const DeviceId& device = group_device_[static_cast<size_t>(group)];
    if (device.valid()) return {&device, 1};
  }
  return problem_.devices_for(op);
}

void Placement::put(OpId op, DeviceId device) {
  devices_[op.index] = device;
  if (const int group = problem_.colocation_group(op); group >= 0) {
    group_device_[static_cast<size_t>(group)] = device;
  }
}

void Placement::put_near(OpId op, DeviceId wanted) {
  const std::span<const DeviceId> open = choices(op);
  const auto next = std::lower_bound(open.begin(), open.end(), wanted);
  put(op, next == open.end() ? open.front() : *next);
}

Result<Plan> Placement::to_plan() const {
  if (Result<void> room = require_room(problem_, devices_); !room) return room.error();
  const Priorities priority = order_rules().front().priorities(problem_, devices_);
  std::vector<double> key;
  key.reserve(priority.size());
  for (const int64_t p : priority) key.push_back(-static_cast<double>(p));
  ContentionSchedule schedule(problem_);
  for (ReadyQueue ready(problem_.graph, key); !ready.empty();) {
    const OpId op = ready.pop();
    schedule.place(op, devices_[op.index]);
  }
  Plan plan = schedule.to_plan();
  plan.priority = priority;
  return plan;
}

}  // namespace tutti
