#include "tutti/search/affordable.h"

#include <algorithm>

namespace tutti {

Affordable affordable_scenarios(const Problem& problem, const SearchModel& model, const Plan& plan,
                                const Progress& progress, int threads) {
  constexpr double kFewestEvaluations = 200;
  Affordable affordable{.scenarios = model.scenarios.count};
  Judge judge(problem, model.model, model.order);
  if (!progress.timed() || !judge.depends_on_seed()) return affordable;
  const auto before = progress.time_left();
  if (!judge.makespan(plan, model.scenarios.seed)) return affordable;
  const auto left = progress.time_left();
  affordable.simulation = before - left;
  const double count = threads * (left / affordable.simulation) / kFewestEvaluations;
  affordable.scenarios = static_cast<int>(std::clamp<double>(count, 1, model.scenarios.count));
  return affordable;
}

double cost_in_any_case(const Problem& problem, const SearchModel& model, const Plan& plan,
                        Evaluator& evaluator) {
  const double cost = evaluator.cost(plan);
  if (cost != kNoPlan || !evaluator.stop().now()) return cost;
  SearchModel one = model;
  one.scenarios.count = 1;
  return Evaluator(problem, one).cost(plan);
}

}  // namespace tutti
