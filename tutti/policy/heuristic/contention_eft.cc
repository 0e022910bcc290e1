#include "tutti/policy/heuristic/contention_eft.h"

#include <vector>

#include "tutti/base/random.h"
#include "tutti/policy/contention.h"
#include "tutti/policy/ranks.h"
#include "tutti/policy/ready_queue.h"
#include "tutti/policy/tight_memory.h"

namespace tutti {
namespace {

class EarliestFinish {
 public:
  EarliestFinish(const Problem& problem, const ContentionEftOptions& options)
      : schedule_(problem), options_(options), rng_(Rng(options.seed.value_or(0)).split(1)) {}

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

  DeviceId earliest(OpId op) {
    DeviceId best{};
    Duration best_finish = kNever;
    uint64_t ties = 1;
    for (const DeviceId device : candidates_) {
      const Duration finish = schedule_.finish_on(op, device);
      if (finish < best_finish) {
        best_finish = finish;
        best = device;
        ties = 1;
      } else if (finish == best_finish && options_.seed && rng_.below(++ties) == 0) {
        best = device;
      }
    }
    return best;
  }

  ContentionSchedule schedule_;
  const ContentionEftOptions& options_;
  Rng rng_;
  std::vector<DeviceId> candidates_;
  std::vector<DeviceId> in_team_;
};

}  // namespace

Result<Plan> contention_eft(const Problem& problem, const ContentionEftOptions& options) {
  const std::vector<double> rank = upward_ranks(problem, EdgeWeight::all_pairs);
  std::vector<uint64_t> tie;
  if (options.seed) {
    Rng rng = Rng(*options.seed).split(0);
    for (size_t i = 0; i < rank.size(); ++i) tie.push_back(rng.next());
  }
  EarliestFinish earliest_finish(problem, options);
  for (ReadyQueue ready(problem.graph, rank, std::move(tie)); !ready.empty();) {
    if (!earliest_finish.place(ready.pop())) return plan_in_tight_memory(problem);
  }
  return earliest_finish.to_plan();
}

}  // namespace tutti
