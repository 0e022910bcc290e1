#include "tutti/policy/online/eft/whole_job.h"

#include <algorithm>
#include <tuple>

namespace tutti {
namespace {

struct JobOnDevice {
  double work = 0;  // ns, of the ops that can run there
  double path = 0;  // ns, its critical path if they do
};

JobOnDevice put_on(const Job& job, DeviceId device, std::vector<double>& path) {
  JobOnDevice made;
  path.assign(static_cast<size_t>(job.graph().size()), 0);
  for (const OpId op : job.graph().topological_order()) {
    const bool able = job.problem().allows(op, device);
    const auto run = static_cast<double>(
        (able ? job.costs().run_time(op, device) : job.least_run_time(op)).count());
    if (able) made.work += run;
    double start = 0;
    for (const EdgeId edge : job.graph().edges(op)) {
      const OpId from = job.graph().edge_from(edge);
      if (from.valid()) start = std::max(start, path[from.index]);
    }
    path[op.index] = start + run;
    made.path = std::max(made.path, path[op.index]);
  }
  return made;
}

}  // namespace

void WholeJob::on_begin(const Cluster& /*cluster*/, uint64_t /*seed*/) {
  homes_.clear();
}

void WholeJob::on_epoch(const WorldState& state) {
  std::erase_if(homes_, [&](const auto& item) { return !state.jobs[item.first.index]; });
}

double WholeJob::load(const WorldState& state, DeviceId device) const {
  double sum = 0;
  for (const auto& [id, home] : homes_) {
    if (home.device != device || !state.jobs[id.index]) continue;
    sum += home.work * static_cast<double>(state.job(id).work_left.count()) / home.least;
  }
  return sum / state.cluster->machine().device(device).slots;
}

const WholeJob::Home& WholeJob::home_of(const WorldState& state, const JobStatus& status) {
  const auto found = homes_.find(status.id);
  if (found != homes_.end()) return found->second;
  const Job& job = *status.job;
  Home best;
  double first = 0;
  for (const DeviceId device : state.cluster->machine().devices()) {
    const JobOnDevice on = put_on(job, device, path_);
    if (on.work == 0) continue;
    const int slots = state.cluster->machine().device(device).slots;
    const double end = load(state, device) + std::max(on.path, on.work / slots);
    if (best.device.valid() && end >= first) continue;
    first = end;
    best = {.device = device, .work = on.work};
  }
  best.least = std::max(1.0, static_cast<double>(status.work_left.count()));
  return homes_.emplace(status.id, best).first->second;
}

std::optional<PlacingDecider::Choice> WholeJob::choose(const WorldState& state) {
  order_.clear();
  for (const JobId id : state.in_system) order_.push_back(&state.job(id));
  std::sort(order_.begin(), order_.end(), [](const JobStatus* a, const JobStatus* b) {
    return std::tuple(a->work_left, a->id) < std::tuple(b->work_left, b->id);
  });
  for (const JobStatus* job : order_) {
    const Home& home = home_of(state, *job);
    for (const OpId op : job->ready) {
      if (openings().is_promised(job->id, op)) continue;
      const bool stays = home.device.valid() && job->job->problem().allows(op, home.device);
      openings().list(state, *job, op, list_);
      const Opening* best = nullptr;
      for (const Opening& opening : list_) {
        if (stays ? opening.device == home.device : best == nullptr || opening.time < best->time)
          best = &opening;
      }
      if (best != nullptr) return Choice{job, op, *best};
    }
  }
  return std::nullopt;
}

}  // namespace tutti
