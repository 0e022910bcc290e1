#include "tutti/policy/coarse/refine.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tutti/policy/schedule/contention.h"
#include "tutti/policy/schedule/ready_queue.h"

namespace tutti {
namespace {

class Refinement {
 public:
  Refinement(const Problem& problem, const std::vector<DeviceId>& suggested,
             const Refining& refining)
      : problem_(problem),
        suggested_(suggested),
        loyalty_(refining.loyalty),
        schedule_(problem, refining.memory_share) {}

  // False if memory leaves the op no device.
  bool place(OpId op) {
    const std::span<const DeviceId> open = schedule_.devices_for(op);
    if (open.empty()) return false;
    const DeviceId home = suggested_[static_cast<size_t>(op.index)];
    const bool home_is_open = std::find(open.begin(), open.end(), home) != open.end();
    const bool stays = std::isinf(loyalty_) || problem_.colocation_group(op) >= 0;
    DeviceId device = open.size() == 1 ? open.front() : home;
    if (open.size() > 1 && !(home_is_open && stays)) {
      candidates_.assign(open.begin(), open.end());
      device = home_is_open ? home_or_earliest(op, home) : earliest(op, DeviceId{}, kNever);
    }
    schedule_.place(op, device);
    return true;
  }

  Plan to_plan() const { return schedule_.to_plan(); }

 private:
  DeviceId home_or_earliest(OpId op, DeviceId home) {
    const double enough = loyalty_ * problem_.costs.mean_run_time_ns(op);
    const Duration at_home = schedule_.finish_on(op, home);
    if (enough >= static_cast<double>(at_home.count())) return home;
    return earliest(op, home, at_home - Duration(static_cast<int64_t>(enough)));
  }

  // The candidate that finishes the op first, if that is before `by`; else `otherwise`. They come
  // by the least they could reach, so that few are looked at closely.
  DeviceId earliest(OpId op, DeviceId otherwise, Duration by) {
    by_least_.clear();
    for (const DeviceId device : candidates_) {
      const Duration least = schedule_.least_finish_on(op, device);
      if (least < by) by_least_.emplace_back(least, device);
    }
    std::sort(by_least_.begin(), by_least_.end());
    for (const auto& [least, device] : by_least_) {
      if (least >= by) break;
      const Duration finish = schedule_.finish_on(op, device);
      if (finish >= by) continue;
      otherwise = device;
      by = finish;
    }
    return otherwise;
  }

  const Problem& problem_;
  const std::vector<DeviceId>& suggested_;
  double loyalty_;
  ContentionSchedule schedule_;
  std::vector<DeviceId> candidates_;  // of the op looked at
  std::vector<std::pair<Duration, DeviceId>> by_least_;
};

}  // namespace

std::optional<Plan> refined(const Problem& problem, const std::vector<DeviceId>& suggested,
                            const std::vector<double>& key, const Refining& refining) {
  Refinement refinement(problem, suggested, refining);
  for (ReadyQueue ready(problem.graph, key); !ready.empty();) {
    if (refining.stop.now() || !refinement.place(ready.pop())) return std::nullopt;
  }
  return refinement.to_plan();
}

}  // namespace tutti
