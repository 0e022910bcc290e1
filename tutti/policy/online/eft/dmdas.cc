#include "tutti/policy/online/eft/dmdas.h"

#include <algorithm>
#include <tuple>

#include "tutti/policy/schedule/ranks.h"

namespace tutti {

void Dmdas::on_begin(const Cluster& /*cluster*/, uint64_t /*seed*/) {
  jobs_.clear();
}

void Dmdas::on_epoch(const WorldState& state) {
  std::erase_if(jobs_, [&](const auto& item) { return !state.jobs[item.first.index]; });
}

void Dmdas::gather(const WorldState& state) {
  candidates_.clear();
  waiting_.assign(state.devices.size(), Duration(0));
  const Machine& machine = state.cluster->machine();
  for (const JobId id : state.in_system) {
    const JobStatus& job = state.job(id);
    const auto [found, is_new] = jobs_.try_emplace(id);
    OfJob& of = found->second;
    if (is_new) {
      of.ranks = upward_ranks(job.job->problem(), EdgeWeight::all_pairs);
      of.bound.assign(job.ops.size(), {});
    }
    const double waited = settings_.age * static_cast<double>((state.now - job.arrival).count());
    for (const OpId op : job.ready) {
      DeviceId& bound = of.bound[op.index];
      if (bound.valid())
        waiting_[bound.index] += job.job->costs().run_time(op, bound) / machine.device(bound).slots;
      if (!openings().is_promised(id, op))
        candidates_.push_back({of.ranks[op.index] + waited, &job, op, &bound});
    }
  }
  std::sort(candidates_.begin(), candidates_.end(), [](const Candidate& a, const Candidate& b) {
    return std::tuple(-a.rank, a.job->id, a.op) < std::tuple(-b.rank, b.job->id, b.op);
  });
}

DeviceId Dmdas::best_device(const WorldState& state, const JobStatus& job, OpId op) const {
  const OpKindId kind = job.job->kind(op);
  DeviceId best;
  double least = 0;
  for (const DeviceId device : job.job->devices_for(op)) {
    const Device& item = state.cluster->machine().device(device);
    const Duration fetch = state.fetch_time(job, op, device);
    Duration free = state.free_at(device) - state.now + waiting_[device.index];
    bool configured = item.contexts == 0;
    for (int context = 0; context < item.contexts; ++context)
      configured = configured || state.slot(device, context).configured == kind;
    if (!configured) free += item.reconfiguration_time;
    const Duration end = std::max(free, fetch) + job.job->costs().run_time(op, device);
    const double cost =
        static_cast<double>(end.count()) + settings_.beta * static_cast<double>(fetch.count());
    if (best.valid() && cost >= least) continue;
    least = cost;
    best = device;
  }
  return best;
}

std::optional<PlacingDecider::Choice> Dmdas::choose(const WorldState& state) {
  gather(state);
  for (const Candidate& candidate : candidates_) {
    DeviceId& bound = *candidate.bound;
    if (bound.valid()) continue;
    const JobStatus& job = *candidate.job;
    bound = best_device(state, job, candidate.op);
    waiting_[bound.index] += job.job->costs().run_time(candidate.op, bound) /
                             state.cluster->machine().device(bound).slots;
  }
  for (const Candidate& candidate : candidates_) {
    const OpKindId kind = candidate.job->job->kind(candidate.op);
    const Device& device = state.cluster->machine().device(*candidate.bound);
    if (device.contexts == 0 && !state.has_room(*candidate.bound, kind)) continue;
    openings().list(state, *candidate.job, candidate.op, list_);
    for (const Opening& opening : list_) {
      if (opening.device == *candidate.bound) return Choice{candidate.job, candidate.op, opening};
    }
  }
  return std::nullopt;
}

}  // namespace tutti
