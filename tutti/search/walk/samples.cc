#include "tutti/search/walk/samples.h"

#include <optional>

#include "tutti/policy/schedule/keeping.h"

namespace tutti {

void PolicySamples::improve(Walk& walk, Evaluator& evaluator, const BudgetSlice& slice,
                            const Progress& progress, Rng& rng) {
  const int64_t before = evaluator.evaluations();
  int refused = 0;  // in a row: memory may be too short for any sample
  while (walk.best_cost > slice.good_enough && refused < 100 &&
         !progress.over(slice, evaluator.evaluations() - before)) {
    std::optional<Plan> plan = guide_.draw_plan(Rng(rng.next()), evaluator.stop());
    const Problem& problem = guide_.problem();
    if (!plan || (problem.has_homed_weights() && !choose_keeping(problem, *plan))) {
      ++refused;
      continue;
    }
    refused = 0;
    const double cost = evaluator.cost(*plan, walk.cost);
    if (cost < walk.cost) walk.start_from(*plan, cost);
  }
}

}  // namespace tutti
