#include "tutti/policy/online/planned.h"

#include <limits>

namespace tutti {

void Planned::on_begin(const Cluster& /*cluster*/, uint64_t /*seed*/) {
  std::erase_if(plans_, [](const auto& entry) { return entry.first.use_count() == 1; });
}

const Plan& Planned::plan_of(const std::shared_ptr<const Job>& job) {
  const auto found = plans_.find(job);
  if (found != plans_.end()) return found->second;
  return plans_.emplace(job, plan_(job->problem())).first->second;
}

std::optional<PlacingDecider::Choice> Planned::choose(const WorldState& state) {
  forget_ended(state, plans_);
  std::optional<Choice> best;
  int64_t first = std::numeric_limits<int64_t>::max();
  for (const JobId id : state.in_system) {
    const JobStatus& job = state.job(id);
    if (job.ready.empty()) continue;
    const Plan& plan = plan_of(job.job);
    for (const OpId op : job.ready) {
      const int64_t due = job.arrival.count() + plan.priority[op.index];
      if (due >= first) continue;
      for (const Opening& opening : bearable(state, job, op, 0)) {
        if (opening.device != plan.placement[op.index]) continue;
        first = due;
        best = Choice{&job, op, opening};
      }
    }
  }
  return best;
}

}  // namespace tutti
