#include "tutti/policy/heuristic/contention_eft.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "tutti/base/random.h"
#include "tutti/policy/heuristic/heuristics.h"
#include "tutti/policy/schedule/contention.h"
#include "tutti/policy/schedule/ranks.h"
#include "tutti/policy/schedule/ready_queue.h"
#include "tutti/policy/schedule/tight_memory.h"

namespace tutti {
namespace {

class EarliestFinish {
 public:
  EarliestFinish(const Problem& problem, const ContentionEftOptions& options, double memory_share)
      : schedule_(problem, memory_share),
        options_(options),
        rng_(Rng(options.seed.value_or(0)).split(1)) {}

  // False if memory leaves the op no device.
  bool place(OpId op) {
    const std::span<const DeviceId> open = schedule_.devices_for(op);
    candidates_.assign(open.begin(), open.end());
    if (candidates_.empty()) return false;
    keep_to_team(op);
    DeviceId best = candidates_.front();
    if (candidates_.size() > 1) best = earliest(op);
    schedule_.place(op, best);
    return true;
  }

  Plan to_plan() const { return schedule_.to_plan(); }

 private:
  void keep_to_team(OpId op) {
    if (options_.teams == nullptr) return;
    const auto& team =
        options_.teams->devices[static_cast<size_t>(options_.teams->of_op[op.index])];
    in_team_.clear();
    for (const DeviceId device : candidates_) {
      if (team[static_cast<size_t>(device.index)]) in_team_.push_back(device);
    }
    if (!in_team_.empty()) candidates_.swap(in_team_);
  }

  // Devices come by the least they could reach, so that the others need not be looked at once that
  // is beyond the best.
  DeviceId earliest(OpId op) {
    by_least_.clear();
    for (const DeviceId device : candidates_) {
      by_least_.emplace_back(schedule_.least_finish_on(op, device), device);
    }
    std::sort(by_least_.begin(), by_least_.end());
    DeviceId best{};
    Duration best_finish = kNever;
    uint64_t ties = 1;
    for (const auto& [least, device] : by_least_) {
      if (least > best_finish) break;
      const Duration finish = schedule_.finish_on(op, device);
      if (finish < best_finish) {
        best_finish = finish;
        best = device;
        ties = 1;
      } else if (finish == best_finish && wins_tie(device, best, ++ties)) {
        best = device;
      }
    }
    return best;
  }

  bool wins_tie(DeviceId device, DeviceId other, uint64_t ties) {
    return options_.seed ? rng_.below(ties) == 0 : device < other;
  }

  ContentionSchedule schedule_;
  const ContentionEftOptions& options_;
  Rng rng_;
  std::vector<DeviceId> candidates_;
  std::vector<DeviceId> in_team_;
  std::vector<std::pair<Duration, DeviceId>> by_least_;
};

std::optional<Plan> plan_in_share(const Problem& problem, const ContentionEftOptions& options,
                                  const std::vector<double>& keys, double memory_share) {
  std::vector<uint64_t> tie;
  if (options.seed) {
    Rng rng = Rng(*options.seed).split(0);
    for (size_t i = 0; i < keys.size(); ++i) tie.push_back(rng.next());
  }
  EarliestFinish earliest_finish(problem, options, memory_share);
  for (ReadyQueue ready(problem.graph, keys, std::move(tie)); !ready.empty();) {
    if (options.stop.now() || !earliest_finish.place(ready.pop())) return std::nullopt;
  }
  return earliest_finish.to_plan();
}

}  // namespace

Result<Plan> contention_eft(const Problem& problem, const ContentionEftOptions& options) {
  const std::vector<double> keys =
      options.keys != nullptr ? *options.keys : upward_ranks(problem, EdgeWeight::all_pairs);
  return plan_with_room(problem, options.stop,
                        [&](double share) { return plan_in_share(problem, options, keys, share); });
}

Result<Plan> plan_contention_eft(const Problem& problem, const Budget& budget, uint64_t seed) {
  return contention_eft(problem, {.seed = seed, .stop = budget.stop});
}

}  // namespace tutti
