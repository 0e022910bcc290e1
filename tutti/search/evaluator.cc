#include "tutti/search/evaluator.h"

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
    : judge_(problem, model.model, model.order), scenarios_(model.scenarios), stop_(stop) {
  if (judge_.depends_on_seed()) return;
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
        judge_.makespan(plan, scenarios_.seed + static_cast<uint64_t>(i), limit, stop_);
    if (!makespan || *makespan == kNever) return kNoPlan;
    makespans_.push_back(static_cast<double>(makespan->count()));
    sum += makespans_.back();
  }
  return cost_of(makespans_, scenarios_);
}

}  // namespace tutti
