#include "tutti/search/evaluate/evaluator.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace tutti {

double cost_of(std::span<const double> makespans, const Scenarios& scenarios) {
  const auto count = static_cast<double>(makespans.size());
  const double mean = std::accumulate(makespans.begin(), makespans.end(), 0.0) / count;
  if (scenarios.tail_weight <= 0) return mean;
  const auto worst = static_cast<int64_t>(std::max(1.0, std::ceil(scenarios.tail_share * count)));
  std::vector<double> sorted(makespans.begin(), makespans.end());
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  const double tail = std::accumulate(sorted.begin(), sorted.begin() + worst, 0.0);
  return mean + scenarios.tail_weight * tail / static_cast<double>(worst);
}

Evaluator::Evaluator(const Problem& problem, const SearchModel& model, const Stop& stop)
    : simulator_(problem, model.model, model.order), scenarios_(model.scenarios), stop_(stop) {
  if (simulator_.depends_on_seed()) return;
  // All scenarios are one, and that is its own tail: the mean alone ranks plans alike.
  scenarios_.count = 1;
  scenarios_.tail_weight = 0;
}

double Evaluator::cost(const Plan& plan, double give_up_beyond) {
  makespans_.clear();
  double sum = 0;
  for (int i = 0; i < scenarios_.count; ++i) {
    // The mean alone is no more than the cost, and the scenarios still to come add to it.
    const double left = give_up_beyond * scenarios_.count - sum;
    const Duration limit =
        left < static_cast<double>(kNever.count()) ? Duration(static_cast<int64_t>(left)) : kNever;
    ++evaluations_;
    const Result<Duration> makespan =
        simulator_.makespan(plan, scenarios_.seed + static_cast<uint64_t>(i), limit, stop_);
    if (!makespan || *makespan == kNever) return kNoPlan;
    makespans_.push_back(static_cast<double>(makespan->count()));
    sum += makespans_.back();
  }
  return cost_of(makespans_, scenarios_);
}

std::optional<Duration> give_timeline(const Problem& problem, const SearchModel& model,
                                      const Stop& stop, Plan& plan) {
  plan.start.clear();
  plan.finish.clear();
  plan.planned_makespan.reset();
  plan.simulated = false;
  if (model.model != SimModel::physical) return std::nullopt;
  constexpr int32_t kSmall = 50'000;  // ops
  PhysicalSimulator simulator(problem);
  const Result<Duration> makespan =
      simulator.run(plan, {.order = model.order,
                           .seed = model.scenarios.seed,
                           .sample = false,
                           .stop = problem.graph.size() <= kSmall ? Stop() : stop});
  if (!makespan || *makespan == kNever) return std::nullopt;
  for (const OpId op : problem.graph.ops()) {
    plan.start.push_back(simulator.start(op));
    plan.finish.push_back(simulator.finish(op));
  }
  plan.planned_makespan = *makespan;
  plan.simulated = model.order == ReadyOrder::priority;  // the order in which the judge repeats it
  return *makespan;
}

}  // namespace tutti
