#include "tutti/policy/online/online_heft.h"

#include <algorithm>

#include "tutti/policy/schedule/ranks.h"

namespace tutti {

void OnlineHeft::on_begin(const Cluster& /*cluster*/, uint64_t /*seed*/) {
  ranks_.clear();
}

const std::vector<double>& OnlineHeft::ranks(const std::shared_ptr<const Job>& job) {
  const auto found = ranks_.find(job);
  if (found != ranks_.end()) return found->second;
  return ranks_.emplace(job, upward_ranks(job->problem(), EdgeWeight::all_pairs)).first->second;
}

void OnlineHeft::gather(const WorldState& state) {
  forget_ended(state, ranks_);
  candidates_.clear();
  for (const JobId id : state.in_system) {
    const JobStatus& job = state.job(id);
    if (job.ready.empty()) continue;
    const double waited = age_ * static_cast<double>((state.now - job.arrival).count());
    const std::vector<double>& rank = ranks(job.job);
    for (const OpId op : job.ready) {
      if (openings().is_promised(id, op)) continue;
      candidates_.push_back({rank[op.index] + waited, &job, op});
    }
  }
  std::stable_sort(candidates_.begin(), candidates_.end(),
                   [](const Candidate& a, const Candidate& b) { return a.rank > b.rank; });
  free_at_.resize(state.slots.size());
  configured_.resize(state.slots.size());
  for (int32_t slot = 0; slot < static_cast<int32_t>(state.slots.size()); ++slot) {
    free_at_[slot] = expected_end(state, openings(), slot);
    configured_[slot] = state.slots[slot].configured;
  }
}

std::optional<PlacingDecider::Choice> OnlineHeft::choose(const WorldState& state) {
  gather(state);
  const Cluster& cluster = *state.cluster;
  for (const Candidate& candidate : candidates_) {
    const Job& job = *candidate.job->job;
    const OpKindId kind = job.kind(candidate.op);
    Duration best = kNever;
    int32_t best_slot = -1;
    for (const DeviceId device : job.devices_for(candidate.op)) {
      const Device& item = cluster.machine().device(device);
      const Duration alone = state.fetch_time(*candidate.job, candidate.op, device) +
                             job.costs().run_time(candidate.op, device);
      // Slots of a free device in the order in which it would give them.
      const int preferred = std::max(0, state.free_slot(device, kind));
      for (int i = 0; i < item.slots; ++i) {
        const int32_t slot = cluster.first_slot(device) + (preferred + i) % item.slots;
        Duration finish = free_at_[slot] + alone;
        if (item.contexts > 0 && configured_[slot] != kind) finish += item.reconfiguration_time;
        if (finish >= best) continue;
        best = finish;
        best_slot = slot;
      }
    }
    const DeviceId device = cluster.device_of_slot(best_slot);
    const bool idle = state.slots[best_slot].phase == SlotStatus::Phase::idle;
    const bool reconfigurable = cluster.machine().device(device).contexts > 0;
    const bool queues = !reconfigurable && state.devices[device.index].idle_slots == 0 &&
                        state.has_room(device, kind);
    if ((idle && free_at_[best_slot] <= state.now) || queues) {
      return Choice{candidate.job, candidate.op,
                    Opening{.device = device,
                            .slot = best_slot - cluster.first_slot(device),
                            .configures = reconfigurable && configured_[best_slot] != kind,
                            .time = best - state.now}};
    }
    free_at_[best_slot] = best;
    configured_[best_slot] = kind;
  }
  return std::nullopt;
}

}  // namespace tutti
