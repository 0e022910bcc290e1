#include "tutti/train/doppler/teacher.h"

#include <algorithm>

#include "tutti/policy/schedule/ranks.h"

namespace tutti {
namespace {

// Sums of the same times in another order are still the same b-level.
constexpr double kRounding = 1e-12;

void earliest_devices(const State& state, OpId op, std::vector<DeviceId>& devices) {
  devices.clear();
  Duration best = kNever;
  for (const DeviceId device : state.devices_for(op)) {
    const Duration start = state.earliest_start(op, device);
    if (start < best) devices.clear();
    best = std::min(best, start);
    if (start == best) devices.push_back(device);
  }
}

}  // namespace

CriticalPathTeacher::CriticalPathTeacher(const Problem& problem)
    : b_level_(upward_ranks(problem, EdgeWeight::distinct_pairs)) {}

void CriticalPathTeacher::right_ops(const State& state, std::vector<OpId>& ops) {
  ops.clear();
  double most = 0;
  for (const OpId op : state.ready()) {
    most = std::max(most, b_level_[static_cast<size_t>(op.index)]);
  }
  for (const OpId op : state.ready()) {
    if (b_level_[static_cast<size_t>(op.index)] >= most * (1 - kRounding)) ops.push_back(op);
  }
}

void CriticalPathTeacher::right_devices(const State& state, OpId op,
                                        std::vector<DeviceId>& devices) {
  earliest_devices(state, op, devices);
}

void PlanTeacher::right_ops(const State& state, std::vector<OpId>& ops) {
  ops.clear();
  for (const OpId op : state.ready()) {
    const int64_t priority = plan_.priority[static_cast<size_t>(op.index)];
    const int64_t best = ops.empty() ? priority : plan_.priority[static_cast<size_t>(ops[0].index)];
    if (priority < best) ops.clear();
    if (priority <= best) ops.push_back(op);
  }
}

void PlanTeacher::right_devices(const State& state, OpId op, std::vector<DeviceId>& devices) {
  const DeviceId planned = plan_.placement[static_cast<size_t>(op.index)];
  const auto allowed = state.devices_for(op);
  if (std::find(allowed.begin(), allowed.end(), planned) != allowed.end()) {
    devices.assign(1, planned);
  } else {
    earliest_devices(state, op, devices);
  }
}

}  // namespace tutti
