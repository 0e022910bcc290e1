#include "tutti/search/judge.h"

namespace tutti {

Judge::Judge(const Problem& problem, SimModel model, ReadyOrder order)
    : problem_(problem), order_(order) {
  if (model == SimModel::released) {
    released_.emplace(problem);
  } else {
    physical_.emplace(problem);
  }
}

Result<Duration> Judge::makespan(const Plan& plan, uint64_t seed) {
  if (released_) return released_->evaluate(plan.placement);
  return physical_->run(plan,
                        {.order = order_, .seed = seed, .sample = problem_.costs.has_noise()});
}

bool Judge::depends_on_seed() const {
  return physical_.has_value() && (problem_.costs.has_noise() || order_ == ReadyOrder::random);
}

}  // namespace tutti
