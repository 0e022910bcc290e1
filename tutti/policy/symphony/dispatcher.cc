#include "tutti/policy/symphony/dispatcher.h"

#include "tutti/base/check.h"

namespace tutti {

void SymphonyDispatcher::begin(const Cluster& cluster, uint64_t seed) {
  TUTTI_CHECK(&cluster == &model_->cluster());
  MindOptions options = options_;
  options.seed = seed;
  mind_.emplace(model_, std::move(options));
}

Action SymphonyDispatcher::decide(const ClusterState& state) {
  const Consideration& considered = mind_->consider(state);
  return considered.sight.actions[SymphonyMind::best(considered.scores)];
}

}  // namespace tutti
