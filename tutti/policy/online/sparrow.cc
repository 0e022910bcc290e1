#include "tutti/policy/online/sparrow.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace tutti {

void Sparrow::on_begin(const Cluster& cluster, uint64_t seed) {
  rng_ = Rng(seed).split(0x73706172);
  queues_.assign(static_cast<size_t>(cluster.slot_count()), {});
  seen_.clear();
}

void Sparrow::on_epoch(const WorldState& state) {
  for (const FinishedOp& done : state.finished) seen_.erase({done.job, done.op});
  for (auto it = seen_.begin(); it != seen_.end() && !state.jobs[it->first.index];)
    it = seen_.erase(it);  // of jobs that were given up; the oldest stand first
  for (const JobId id : state.in_system) {
    const JobStatus& job = state.job(id);
    std::map<OpKindId, int> batches;
    for (const OpId op : job.ready) {
      if (seen_.insert({id, op}).second) ++batches[job.job->kind(op)];
    }
    for (const auto& [kind, count] : batches) probe(state, job, kind, count);
  }
}

void Sparrow::probe(const WorldState& state, const JobStatus& job, OpKindId kind, int count) {
  std::vector<int32_t> able;
  for (int32_t slot = 0; slot < state.cluster->slot_count(); ++slot) {
    if (state.cluster->runs(kind, state.cluster->device_of_slot(slot))) able.push_back(slot);
  }
  const auto wanted = static_cast<size_t>(std::ceil(probes_ * count));
  for (size_t i = 0; i < wanted; ++i) {
    // Without replacement, until all have been drawn.
    const size_t from = i % able.size();
    std::swap(able[from], able[from + rng_.below(able.size() - from)]);
    queues_[able[from]].push_back({job.id, kind});
  }
}

OpId Sparrow::op_for(const WorldState& state, const Reservation& reservation) const {
  if (!state.jobs[reservation.job.index]) return {};
  const JobStatus& job = state.job(reservation.job);
  for (const OpId op : job.ready) {
    if (job.job->kind(op) == reservation.kind && !openings().is_promised(job.id, op)) return op;
  }
  return {};
}

// Queues of devices are left empty: an op would be bound to a busy one before another is free.
std::optional<PlacingDecider::Choice> Sparrow::choose(const WorldState& state) {
  for (int32_t slot = 0; slot < state.cluster->slot_count(); ++slot) {
    const SlotStatus& status = state.slots[slot];
    const DeviceId device = state.cluster->device_of_slot(slot);
    if (status.phase != SlotStatus::Phase::idle) continue;
    std::deque<Reservation>& queue = queues_[slot];
    while (!queue.empty()) {
      const Reservation first = queue.front();
      queue.pop_front();
      const OpId op = op_for(state, first);
      if (!op.valid()) continue;
      const JobStatus& job = state.job(first.job);
      if (!job.job->problem().allows(op, device)) continue;
      const bool reconfigurable = state.cluster->machine().device(device).contexts > 0;
      return Choice{&job, op,
                    Opening{.device = device,
                            .slot = slot - state.cluster->first_slot(device),
                            .configures = reconfigurable && status.configured != first.kind}};
    }
  }
  return std::nullopt;
}

}  // namespace tutti
