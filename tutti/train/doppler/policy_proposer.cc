#include "tutti/train/doppler/policy_proposer.h"

#include <algorithm>
#include <cmath>

#include "tutti/base/check.h"
#include "tutti/base/parallel.h"
#include "tutti/policy/doppler/model.h"
#include "tutti/train/doppler/baseline.h"
#include "tutti/train/doppler/labels.h"

namespace tutti {
namespace {

constexpr int kScenarios = 4;  // that a proposal is improved on

}  // namespace

Result<std::unique_ptr<PolicyProposer>> PolicyProposer::make(
    const TensorFile& start, const std::string& path, const PolicyProposerSettings& settings) {
  auto learner = make_learner(start, path, settings.threads);
  if (!learner) return learner.error();
  return std::unique_ptr<PolicyProposer>(new PolicyProposer(std::move(*learner), settings));
}

std::vector<Plan> PolicyProposer::propose(const Problem& problem, const Plan& best, int count,
                                          Rng rng) {
  const Result<DopplerModel> model = DopplerModel::load(learner_->model(), "the network");
  TUTTI_CHECK(model.has_value());  // it was a learner's
  const auto features = model->features(problem);
  std::vector<std::optional<Plan>> found(static_cast<size_t>(count));
  parallel_for(count, settings_.threads, [&](int index, int) {
    const Rng own = rng.split(static_cast<uint64_t>(index));
    const auto actor = model->actor(problem, *features);
    // In turns: the policy's own plan, one of its plans improved, and the best so far improved.
    const int turn = index % 3;
    std::optional<Plan> plan = best;
    if (turn != 2) {
      const auto mode = index == 0 ? Acting::Mode::greedy : Acting::Mode::sample;
      plan = actor->act({.mode = mode}, own.split(0));
    }
    if (!plan) return;
    if (turn != 0) {
      SearchModel judging;
      judging.scenarios = {.seed = own.split(1).next() >> 16, .count = kScenarios};
      const double cost = Evaluator(problem, judging).cost(*plan);
      plan = improved(problem, judging, {std::move(*plan), cost}, settings_.evaluations, Stop{},
                      own.split(2))
                 .plan;
    }
    found[static_cast<size_t>(index)] = std::move(plan);
  });
  std::vector<Plan> plans;
  for (std::optional<Plan>& plan : found) {
    if (plan) plans.push_back(std::move(*plan));
  }
  return plans;
}

std::optional<Plan> PolicyProposer::own_plan(const Problem& problem) {
  const Result<DopplerModel> model = DopplerModel::borrow(learner_->model(), "the network");
  TUTTI_CHECK(model.has_value());  // it was a learner's
  return model->actor(problem, *model->features(problem))
      ->act({.mode = Acting::Mode::greedy}, Rng(0));
}

void PolicyProposer::learn(const Problem& problem, std::span<const Plan> plans,
                           std::span<const double> means_ns) {
  std::unique_ptr<const NetFeatures> features;
  // A plan need not be the policy's own: following it records what the policy would have had to
  // choose.
  std::vector<double> costs(means_ns.begin(), means_ns.end());
  std::vector<Episode> episodes(plans.size());
  const size_t best =
      static_cast<size_t>(std::min_element(means_ns.begin(), means_ns.end()) - means_ns.begin());
  for (int step = 0; step < settings_.steps; ++step) {
    const Result<DopplerModel> model = DopplerModel::load(learner_->model(), "the network");
    TUTTI_CHECK(model.has_value());
    if (features == nullptr) features = model->features(problem);
    parallel_for(static_cast<int>(plans.size()), settings_.threads, [&](int index, int) {
      const auto at = static_cast<size_t>(index);
      episodes[at] = {};
      const auto actor = model->actor(problem, *features);
      if (!actor->act({.mode = Acting::Mode::follow, .plan = &plans[at], .record = &episodes[at]},
                      Rng(0))) {
        costs[at] = kNoPlan;
      }
    });
    const std::vector<float> weights = against_group(costs);
    Lesson lesson{.features = features.get()};
    for (size_t i = 0; i < plans.size(); ++i) {
      if (costs[i] == kNoPlan) continue;
      float weight = weights[i];
      if (i == best) {
        weight += static_cast<float>(settings_.label_weight * static_cast<double>(plans.size()));
      }
      if (weight == 0) continue;
      lesson.episodes.push_back(&episodes[i]);
      lesson.weights.push_back(weight);
    }
    if (lesson.episodes.empty()) return;
    learner_->step({&lesson, 1}, {.learning_rate = settings_.learning_rate});
  }
}

}  // namespace tutti
