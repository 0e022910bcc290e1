#include "tutti/search/judge.h"

namespace tutti {

Judge::Judge(const Problem& problem, SimModel model, ReadyOrder order)
    : problem_(problem), order_(order) {
  if (model.other() != nullptr) {
    other_ = model.other()->make(problem);
  } else {
    physical_.emplace(problem);
  }
}

Result<Duration> Judge::makespan(const Plan& plan, uint64_t seed, Duration give_up_beyond,
                                 const Stop& stop) {
  if (stop.now()) return kNever;
  if (other_) return other_->evaluate(plan, give_up_beyond);
  return physical_->run(plan, {.order = order_,
                               .seed = seed,
                               .sample = problem_.costs.has_noise(),
                               .give_up_beyond = give_up_beyond,
                               .stop = stop});
}

bool Judge::depends_on_seed() const {
  return physical_.has_value() && (problem_.costs.has_noise() || order_ == ReadyOrder::random);
}

bool Judge::depends_on_priority() const {
  return physical_.has_value() && order_ == ReadyOrder::priority;
}

}  // namespace tutti
