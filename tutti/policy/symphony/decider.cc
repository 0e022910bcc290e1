#include "tutti/policy/symphony/decider.h"

#include "tutti/base/check.h"

namespace tutti {

void SymphonyDecider::begin(const Cluster& cluster, uint64_t seed) {
  TUTTI_CHECK(&cluster == &model_->cluster());
  SymphonyOptions options = options_;
  options.seed = seed;
  policy_state_.emplace(model_, std::move(options));
}

Action SymphonyDecider::decide(const WorldState& state) {
  const ScoredDecision& considered = policy_state_->score(state);
  return considered.best_action();
}

}  // namespace tutti
