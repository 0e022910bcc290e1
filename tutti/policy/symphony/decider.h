// Symphony as a decider: takes the action with the highest score.

#ifndef TUTTI_POLICY_SYMPHONY_DECIDER_H_
#define TUTTI_POLICY_SYMPHONY_DECIDER_H_

#include <memory>
#include <optional>

#include "tutti/plan/world/decider.h"
#include "tutti/policy/symphony/model.h"

namespace tutti {

class SymphonyDecider final : public Decider {
 public:
  explicit SymphonyDecider(std::shared_ptr<const SymphonyModel> model, SymphonyOptions options = {})
      : model_(std::move(model)), options_(std::move(options)) {}

  // Requires the model's cluster.
  void begin(const Cluster& cluster, uint64_t seed) override;
  Action decide(const WorldState& state) override;

 private:
  std::shared_ptr<const SymphonyModel> model_;
  SymphonyOptions options_;
  std::optional<SymphonyPolicyState> policy_state_;
};

}  // namespace tutti

#endif  // TUTTI_POLICY_SYMPHONY_DECIDER_H_
