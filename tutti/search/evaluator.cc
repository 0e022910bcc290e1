#include "tutti/search/evaluator.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace tutti {

Evaluator::Evaluator(const Problem& problem, const SearchModel& model)
    : judge_(problem, model.model, model.order), scenarios_(model.scenarios) {
  if (!judge_.depends_on_seed()) scenarios_.count = 1;
}

double Evaluator::cost(const Plan& plan, double give_up_beyond) {
  makespans_.clear();
  const double count = scenarios_.count;
  double sum = 0;
  for (int i = 0; i < scenarios_.count; ++i) {
    // The mean alone is no more than the cost, and the scenarios still to come add to it.
    const double left = give_up_beyond * count - sum;
    const Duration limit =
        left < static_cast<double>(kNever.count()) ? Duration(static_cast<int64_t>(left)) : kNever;
    ++evaluations_;
    const Result<Duration> makespan =
        judge_.makespan(plan, scenarios_.seed + static_cast<uint64_t>(i), limit);
    if (!makespan || *makespan == kNever) return kNoPlan;
    makespans_.push_back(static_cast<double>(makespan->count()));
    sum += makespans_.back();
  }
  const double mean = sum / count;
  if (scenarios_.tail_weight <= 0) return mean;
  const auto worst = static_cast<size_t>(std::max(1.0, std::ceil(scenarios_.tail_share * count)));
  sorted_ = makespans_;
  std::sort(sorted_.begin(), sorted_.end(), std::greater<>());
  const double tail =
      std::accumulate(sorted_.begin(), sorted_.begin() + static_cast<int64_t>(worst), 0.0);
  return mean + scenarios_.tail_weight * tail / static_cast<double>(worst);
}

}  // namespace tutti
