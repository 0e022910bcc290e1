// Plans to run on the real machine that a Doppler policy proposes, and what it learns from their
// run times: plans that ran faster than others of their round become more likely, and the best plan
// so far is imitated.

#ifndef TUTTI_TRAIN_DOPPLER_POLICY_PROPOSER_H_
#define TUTTI_TRAIN_DOPPLER_POLICY_PROPOSER_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tutti/calibrate/real_search.h"
#include "tutti/train/doppler/learner.h"

namespace tutti {

struct PolicyProposerSettings {
  double learning_rate = 3e-4;
  double label_weight = 1;  // of the best plan, next to the policy gradient
  int steps = 4;            // of the learner in a round
  // Two proposals of three are improved by so many simulations; real runs cost more than those.
  int64_t evaluations = 1000;
  int threads = 1;
};

class PolicyProposer : public Proposer {
 public:
  // Takes a model or a checkpoint. Fails as make_learner does.
  static Result<std::unique_ptr<PolicyProposer>> make(const TensorFile& start,
                                                      const std::string& path,
                                                      const PolicyProposerSettings& settings);

  // The greedy plan, then samples as they are, samples improved, and improvements of the best plan.
  std::vector<Plan> propose(const Problem& problem, const Plan& best, int count, Rng rng) override;
  void learn(const Problem& problem, std::span<const Plan> plans,
             std::span<const double> means_ns) override;
  // The greedy plan.
  std::optional<Plan> own_plan(const Problem& problem) override;

  TensorFile model() const { return learner_->model(); }
  TensorFile checkpoint() const { return learner_->checkpoint(); }

 private:
  PolicyProposer(std::unique_ptr<Learner> learner, const PolicyProposerSettings& settings)
      : learner_(std::move(learner)), settings_(settings) {}

  std::unique_ptr<Learner> learner_;
  PolicyProposerSettings settings_;
};

}  // namespace tutti

#endif  // TUTTI_TRAIN_DOPPLER_POLICY_PROPOSER_H_
