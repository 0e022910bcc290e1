#include "tutti/policy/online/paragon.h"

#include <algorithm>
#include <cmath>

namespace tutti {

void Paragon::on_begin(const Cluster& /*cluster*/, uint64_t /*seed*/) {
  learned_ = known_;
  launches_.clear();
}

void Paragon::on_epoch(const WorldState& state) {
  for (const FinishedOp& done : state.finished) {
    const auto found = std::find_if(launches_.begin(), launches_.end(), [&](const Launch& b) {
      return b.job == done.job && b.op == done.op;
    });
    if (found == launches_.end()) continue;
    const Duration took = std::max(Duration(1), done.finished - done.started);
    const double ratio = static_cast<double>(took.count()) /
                         static_cast<double>(std::max<int64_t>(1, done.alone.count()));
    learned_.learn(learned_.row(*state.cluster, done.kind, done.device), found->neighbours,
                   std::log(ratio));
    std::swap(*found, launches_.back());
    launches_.pop_back();
  }
  // Of jobs that were given up.
  std::erase_if(launches_, [&](const Launch& b) { return !state.jobs[b.job.index]; });
}

void Paragon::on_launch(const WorldState& state, const Choice& choice) {
  const int32_t slot = state.cluster->first_slot(choice.opening.device) + choice.opening.slot;
  Launch& launch = launches_.emplace_back();
  launch.job = choice.job->id;
  launch.op = choice.op;
  list_neighbours(state, slot, learned_, launch.neighbours);
}

// Its own time as slowed down by its neighbours, and what it takes from each of them meanwhile.
double Paragon::cost(const WorldState& state, const JobStatus& job, OpId op,
                     const Opening& opening) {
  const int32_t slot = state.cluster->first_slot(opening.device) + opening.slot;
  const int32_t row = learned_.row(*state.cluster, job.job->kind(op), opening.device);
  list_neighbours(state, slot, learned_, neighbours_);
  const auto run = static_cast<double>(job.job->costs().run_time(op, opening.device).count());
  double sum = static_cast<double>(opening.time.count()) +
               run * std::expm1(learned_.effect(row, neighbours_));
  for (const Neighbour& neighbour : neighbours_) {
    const Neighbour me{.where = neighbour.where, .row = row};
    sum += options_.care * run * std::expm1(learned_.effect(neighbour.row, me));
  }
  return sum;
}

std::optional<PlacingDecider::Choice> Paragon::choose(const WorldState& state) {
  for (const JobId id : state.in_system) {
    const JobStatus& job = state.job(id);
    for (const OpId op : job.ready) {
      const double most =
          options_.patience * static_cast<double>(job.job->least_run_time(op).count());
      std::optional<Choice> best;
      double least = 0;
      for (const Opening& opening : bearable(state, job, op, 0)) {
        const double its = cost(state, job, op, opening);
        if (options_.patience > 0 && its > most) continue;
        if (best && its >= least) continue;
        least = its;
        best = Choice{&job, op, opening};
      }
      if (best) return best;
    }
  }
  return std::nullopt;
}

}  // namespace tutti
