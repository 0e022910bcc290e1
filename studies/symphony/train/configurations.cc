#include "studies/symphony/train/configurations.h"

#include "tutti/train/symphony/configuration.h"

namespace tutti {
namespace {

// Nothing to start from; n-step actor-critic with the figures of the paper's Tables 2 and 3 (rate
// 0.005, 20 steps in 2 environments, unrolled over 20), graphs summed up by sums. What the paper
// leaves open (discount, entropy, samples) as in docs/results/symphony.md.
SymphonyConfiguration as_published() {
  SymphonyConfiguration made{.name = "as-published", .what = "the figures of the paper"};
  made.shape.samples = 256;
  made.shape.prior = false;
  made.shape.means = false;
  made.shape.wide = true;
  SymphonySettings& settings = made.settings;
  settings.advantage = SymphonySettings::Advantage::critic;
  settings.episodes = 24'000;  // 12,000 iterations of two
  settings.scenarios = 2;
  settings.rollouts = 1;
  settings.play = {.most_decisions = 20, .reward_jobs = false, .discount = 0.99};
  settings.passage = 20;
  settings.repeats = 1;
  settings.minibatches = 1;
  settings.learning_rate = {0.005, 0.005};
  settings.entropy_weight = {0.01, 0.01};
  settings.value_weight = 1;
  settings.clip_norm = 0.5;
  settings.clip_ratio = 0;
  settings.belief_rate = 0.005;
  settings.belief_gradient = GradientKind::sampling;
  settings.belief_stride = 1;
  settings.averaged_over = 1;
  settings.check_every = 200;
  return made;
}

}  // namespace

void add_symphony_studies() {
  add_symphony_configuration(as_published());
}

}  // namespace tutti
