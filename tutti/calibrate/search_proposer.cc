#include "tutti/calibrate/search_proposer.h"

#include "tutti/base/parallel.h"
#include "tutti/search/walk/annealing.h"
#include "tutti/search/walk/islands.h"

namespace tutti {
namespace {

// Costs that were measured have a spread; so many draws of them tell plans apart.
constexpr int kScenarios = 4;

}  // namespace

std::vector<Plan> SearchProposer::propose(const Problem& problem, const Plan& best, int count,
                                          Rng rng) {
  SearchModel model;
  model.scenarios.count = kScenarios;
  std::vector<CostedPlan> found(static_cast<size_t>(count));
  parallel_for(count, threads_, [&](int index, int) {
    Rng own = rng.split(static_cast<uint64_t>(index));
    SearchModel drawn = model;
    drawn.scenarios.seed = own.next() >> 16;
    Evaluator evaluator(problem, drawn);
    Annealing annealing(problem, evaluator.simulator().depends_on_priority());
    Walk walk;
    walk.start_from(best, evaluator.cost(best));
    if (walk.best_cost == kNoPlan) return;
    annealing.improve(walk, evaluator, {.evaluations = evaluations_}, Progress({}), own);
    found[static_cast<size_t>(index)] = {std::move(walk.best), walk.best_cost};
  });
  std::vector<Plan> plans;
  for (CostedPlan& candidate : found) {
    if (candidate.cost != kNoPlan) plans.push_back(std::move(candidate.plan));
  }
  return plans;
}

}  // namespace tutti
