#include "tutti/search/affordable.h"

#include <algorithm>

#include "tutti/policy/registry.h"

namespace tutti {

Affordable affordable_scenarios(const Problem& problem, const SearchModel& model, const Plan& plan,
                                const Progress& progress, int threads) {
  constexpr double kFewestEvaluations = 1000;
  Affordable affordable{.scenarios = model.scenarios.count};
  Judge judge(problem, model.model, model.order);
  if (!progress.timed() || !judge.depends_on_seed()) return affordable;
  const auto time = [&](const Plan& timed) {
    const auto before = progress.time_left();
    if (!judge.makespan(timed, model.scenarios.seed)) return;
    affordable.simulation = std::max(affordable.simulation, before - progress.time_left());
  };
  time(plan);
  // All on one device goes without transfers, and quicker than what the search will look at.
  const Result<Plan> spread =
      make_plan(**find_policy("round_robin"), problem,
                {.wall_clock = {}, .evaluations = {}, .stop = progress.until(1)}, 0);
  if (spread && !progress.until(1).now()) time(*spread);
  if (affordable.simulation.count() == 0) return affordable;  // neither runs
  const double count =
      threads * (progress.time_left() / affordable.simulation) / kFewestEvaluations;
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
