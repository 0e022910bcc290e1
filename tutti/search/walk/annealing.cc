#include "tutti/search/walk/annealing.h"

#include <cmath>

namespace tutti {
namespace {

// A few moves leave most of the critical path as it was, so it is found again only so often.
constexpr int kAcceptedBetweenPaths = 24;
// Asking the guide costs as much as finding a dozen critical paths.
constexpr int kAcceptedBetweenLooks = 400;

}  // namespace

Annealing::Annealing(const Problem& problem, bool ordering, Cooling cooling, Guide* guide)
    : cooling_(cooling), moves_(problem, ordering), guide_(guide) {
  moves_.set_scale(cooling.scale);
}

void Annealing::improve(Walk& walk, Evaluator& evaluator, const BudgetSlice& slice,
                        const Progress& progress, Rng& rng) {
  const int64_t before = evaluator.evaluations();
  const auto spent = [&] { return evaluator.evaluations() - before; };
  int accepted = kAcceptedBetweenPaths;
  int since_look = kAcceptedBetweenLooks;
  hot_.clear();
  int64_t idle = 0;  // moves in a row that changed nothing
  while (walk.best_cost > slice.good_enough && !progress.over(slice, spent())) {
    if (guide_ != nullptr && since_look >= kAcceptedBetweenLooks) {
      if (guide_->is_rested(progress) && !guide_->look_at(walk.plan, evaluator.stop())) {
        guide_ = nullptr;  // memory is tight: it proposes nothing until the next round
      }
      moves_.set_guide(guide_);
      since_look = 0;
    }
    if (!moves_.propose(walk.plan, hot_, rng)) {
      if (++idle > 10000) return;  // nothing can move here
      continue;
    }
    idle = 0;
    const double share = std::min(1.0, progress.share(slice, spent()));
    const double temperature =
        walk.best_cost * cooling_.hottest * std::pow(cooling_.coldest / cooling_.hottest, share);
    const double most = walk.cost + temperature * rng.exponential();
    const double cost = evaluator.cost(walk.plan, most);
    if (cost > most) {
      moves_.undo(walk.plan);
      continue;
    }
    walk.cost = cost;
    walk.note_best();
    ++since_look;
    if (++accepted >= kAcceptedBetweenPaths) {
      evaluator.simulator().critical_path(hot_);
      accepted = 0;
    }
  }
}

}  // namespace tutti
