#include <gtest/gtest.h>

#include "studies/doppler/nets.h"
#include "studies/doppler/published/actor.h"
#include "studies/doppler/torch/module_testing.h"
#include "tutti/graph/make/layered.h"
#include "tutti/train/doppler/teacher.h"

namespace tutti {
namespace {

using Learned = PublishedShape::Learned;

struct Case {
  Problem problem;
  PublishedNetFeatures features;

  explicit Case(const char* preset, int ops = 60)
      : problem(must(Problem::make(must(make_layered({.ops = ops, .width = 8, .seed = 3})),
                                   must(make_preset(preset))))),
        features(problem) {}
};

TensorFile perturbed_net(const PublishedShape& shape) {
  return perturbed(PublishedNet::fresh(shape, 7), 0.02);
}

class SamePublishedNet : public testing::TestWithParam<PublishedShape> {};

TEST_P(SamePublishedNet, GivesTheSameLikelihoodsWithAndWithoutLibtorch) {
  const Case here("mixed-5");
  const TensorFile file = perturbed_net(GetParam());
  const auto network = must(PublishedNet::load(file, "test"));
  PublishedActor actor(here.problem, network, here.features.graph);
  CriticalPathTeacher teacher(here.problem);
  std::vector<Episode> episodes(3);
  for (size_t i = 0; i < episodes.size(); ++i) {
    Acting acting{.mode = Acting::Mode::sample, .record = &episodes[i]};
    if (i == 1) acting.teacher = &teacher;
    ASSERT_TRUE(actor.act(acting, Rng(i)));
  }
  expect_same_likelihoods(file, here.features, episodes);
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, SamePublishedNet,
    testing::Values(PublishedShape{}, PublishedShape{.width = 16, .steps = 0},
                    PublishedShape{.width = 32, .bookkeeping = Bookkeeping::released},
                    PublishedShape{.learned = Learned::select, .width = 32},
                    PublishedShape{.learned = Learned::place, .width = 32},
                    PublishedShape{.learned = Learned::joint, .width = 32},
                    PublishedShape{.width = 16, .steps = 3, .every_step = true},
                    PublishedShape{.learned = Learned::joint, .width = 16, .every_step = true}));

// The learner's gradient is a tenth of the first moment after one step. Along it, tensor by tensor,
// the mean log-likelihood must grow as fast as the gradient is long.
TEST_P(SamePublishedNet, HasTheGradientThatDifferencesShow) {
  const Case here("p100-4", 30);
  PublishedShape shape = GetParam();
  shape.width = 16;
  shape.steps = std::min(shape.steps, 2);
  TensorFile file = perturbed_net(shape);
  const auto network = must(PublishedNet::load(file, "test"));
  PublishedActor actor(here.problem, network, here.features.graph);
  Episode episode;
  ASSERT_TRUE(actor.act({.mode = Acting::Mode::sample, .record = &episode}, Rng(1)));
  const Lesson lesson{.features = &here.features, .episodes = {&episode}, .weights = {1}};
  const auto gain = [&] {
    const auto learner = must(make_learner(file, "test", 1));
    return sum_of_likelihoods(*learner, lesson) / static_cast<double>(episode.op.size());
  };
  const auto learner = must(make_learner(file, "test", 1));
  learner->step({&lesson, 1}, {.clip_norm = 0});
  const TensorFile after = learner->checkpoint();
  int looked_at = 0;
  for (auto& [name, tensor] : file.tensors) {
    GradientOf gradient(tensor, after.tensors.at("adam.first." + name));
    const double length = gradient.length();
    if (length < 0.1) continue;  // lost in rounding
    const double step = 2e-5;
    const auto move = [&](double way) {
      gradient.move(way, step);
      return gain();
    };
    const double slope = (move(1) - move(-1)) / (2 * step);
    EXPECT_NEAR(slope, length, 0.05 * length) << name;
    ++looked_at;
  }
  EXPECT_GE(looked_at, 5);
}

TEST(PublishedLearner, MakesWhatWasRightMoreLikely) {
  const Case here("p100-4", 30);
  const TensorFile file = PublishedNet::fresh({.width = 16, .steps = 2}, 1);
  const auto network = must(PublishedNet::load(file, "test"));
  PublishedActor actor(here.problem, network, here.features.graph);
  Episode episode;
  ASSERT_TRUE(actor.act({.mode = Acting::Mode::sample, .record = &episode}, Rng(1)));
  const Lesson lesson{.features = &here.features, .episodes = {&episode}, .weights = {1}};
  const auto learner = must(make_learner(file, "test", 1));
  const double before = sum_of_likelihoods(*learner, lesson);
  for (int i = 0; i < 60; ++i) learner->step({&lesson, 1}, {.learning_rate = 3e-3});
  EXPECT_GT(sum_of_likelihoods(*learner, lesson), 0.5 * before);  // they are negative
}

// The gradient of the largest layer is kept as a product, and counts in the norm like the others.
TEST(PublishedLearner, TellsTheNormOfTheWholeGradient) {
  const Case here("p100-4", 30);
  const TensorFile file = perturbed_net({.width = 16, .steps = 2});
  const auto network = must(PublishedNet::load(file, "test"));
  PublishedActor actor(here.problem, network, here.features.graph);
  std::vector<Episode> episodes(2);
  std::vector<Lesson> lessons;
  for (size_t i = 0; i < episodes.size(); ++i) {
    ASSERT_TRUE(actor.act({.mode = Acting::Mode::sample, .record = &episodes[i]}, Rng(i)));
    lessons.push_back({.features = &here.features, .episodes = {&episodes[i]}, .weights = {1}});
  }
  const auto learner = must(make_learner(file, "test", 1));
  const double norm = learner->step(lessons, {.clip_norm = 0})->gradient_norm;
  double squares = 0;
  double largest = 0;
  for (const auto& [name, tensor] : learner->checkpoint().tensors) {
    if (!name.starts_with("adam.first.")) continue;
    double own = 0;  // a first moment is a tenth of the gradient
    for (const float value : tensor.data) own += 100 * static_cast<double>(value) * value;
    squares += own;
    if (name.ends_with("message_matrix.weight")) largest += own;
  }
  EXPECT_NEAR(norm, std::sqrt(squares), 1e-4 * norm);
  EXPECT_GT(largest, 1e-6 * squares);
}

TEST(PublishedLearner, GivesTheSameBytesWithAnyNumberOfThreads) {
  const Case here("p100-4", 30);
  const TensorFile file = PublishedNet::fresh({.width = 16, .steps = 2}, 1);
  const auto network = must(PublishedNet::load(file, "test"));
  PublishedActor actor(here.problem, network, here.features.graph);
  std::vector<Episode> episodes(4);
  std::vector<Lesson> lessons;
  for (size_t i = 0; i < episodes.size(); ++i) {
    ASSERT_TRUE(actor.act({.mode = Acting::Mode::sample, .record = &episodes[i]}, Rng(i)));
    lessons.push_back({.features = &here.features, .episodes = {&episodes[i]}, .weights = {1}});
  }
  expect_same_bytes_with_any_threads(file, lessons, 3, {});
}

TEST(PublishedLearner, LeavesAloneWhatItIsNotToLearn) {
  const Case here("p100-4", 30);
  const TensorFile file = PublishedNet::fresh({.width = 8, .steps = 1}, 1);
  const auto network = must(PublishedNet::load(file, "test"));
  PublishedActor actor(here.problem, network, here.features.graph);
  Episode episode;
  ASSERT_TRUE(actor.act({.mode = Acting::Mode::sample, .record = &episode}, Rng(1)));
  const Lesson lesson{.features = &here.features, .episodes = {&episode}, .weights = {1}};
  const auto learner = must(make_learner(file, "test", 2));
  learner->step({&lesson, 1}, {.learn_select = false});
  const TensorFile after = learner->model();
  for (const auto& [name, tensor] : file.tensors) {
    if (!name.starts_with("select.")) continue;
    EXPECT_EQ(tensor, after.tensors.at(name)) << name;
  }
  EXPECT_NE(file.tensors.at("place.last.weight"), after.tensors.at("place.last.weight"));
}

}  // namespace
}  // namespace tutti
