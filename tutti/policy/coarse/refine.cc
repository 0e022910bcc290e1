#include "tutti/policy/coarse/refine.h"

#include <algorithm>

#include "tutti/policy/contention.h"
#include "tutti/policy/order.h"
#include "tutti/policy/ranks.h"
#include "tutti/policy/ready_queue.h"

namespace tutti {
namespace {

class Refinement {
 public:
  Refinement(const Problem& problem, const std::vector<DeviceId>& suggested,
             const Refining& refining)
      : problem_(problem),
        suggested_(suggested),
        refining_(refining),
        schedule_(problem, refining.memory_share) {}

  // False if memory leaves the op no device.
  bool place(OpId op) {
    const std::span<const DeviceId> open = schedule_.devices_for(op);
    if (open.empty()) return false;
    candidates_.assign(open.begin(), open.end());
    schedule_.place(op, choose(op));
    return true;
  }

  Plan to_plan() const { return schedule_.to_plan(); }

 private:
  DeviceId choose(OpId op) {
    if (candidates_.size() == 1) return candidates_.front();
    const DeviceId suggested = suggested_[static_cast<size_t>(op.index)];
    const bool open = std::find(candidates_.begin(), candidates_.end(), suggested) != candidates_.end();
    if (open && (problem_.colocation_group(op) >= 0 || refining_.loyalty > 1e6)) return suggested;
    DeviceId best{};
    Duration best_finish = kNever;
    if (open) {
      best = suggested;
      best_finish = schedule_.finish_on(op, suggested) -
                    Duration(static_cast<int64_t>(refining_.loyalty *
                                                  problem_.costs.mean_run_time_ns(op)));
    }
    by_least_.clear();
    for (const DeviceId device : candidates_) {
      if (device == suggested) continue;
      const Duration least = schedule_.least_finish_on(op, device);
      if (!best.valid() || least < best_finish) by_least_.emplace_back(least, device);
    }
    std::sort(by_least_.begin(), by_least_.end());
    for (const auto& [least, device] : by_least_) {
      if (best.valid() && least >= best_finish) break;
      const Duration finish = schedule_.finish_on(op, device);
      if (best.valid() && finish >= best_finish) continue;
      best = device;
      best_finish = finish;
    }
    return best;
  }

  const Problem& problem_;
  const std::vector<DeviceId>& suggested_;
  const Refining& refining_;
  ContentionSchedule schedule_;
  std::vector<DeviceId> candidates_;
  std::vector<std::pair<Duration, DeviceId>> by_least_;
};

}  // namespace

std::optional<Plan> refined(const Problem& problem, const std::vector<DeviceId>& suggested,
                            const Refining& refining) {
  std::vector<double> key;
  if (refining.order == 0) {
    key = upward_ranks(problem, EdgeWeight::all_pairs);
  } else if (refining.order == 1) {
    for (const Duration level : placed_b_levels(problem, suggested)) {
      key.push_back(static_cast<double>(level.count()));
    }
  } else {
    key = *refining.keys;
  }
  Refinement refinement(problem, suggested, refining);
  for (ReadyQueue ready(problem.graph, key); !ready.empty();) {
    if (refining.stop.now() || !refinement.place(ready.pop())) return std::nullopt;
  }
  return refinement.to_plan();
}

}  // namespace tutti
