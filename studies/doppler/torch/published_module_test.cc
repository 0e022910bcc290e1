#include <gtest/gtest.h>

#include <cmath>

#include "studies/doppler/nets.h"
#include "studies/doppler/published/actor.h"
#include "test/support/world.h"
#include "tutti/graph/make/layered.h"
#include "tutti/train/learner.h"
#include "tutti/train/teacher.h"

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

// All weights and biases are random.
TensorFile shaken_network(const PublishedShape& shape) {
  TensorFile file = PublishedNetwork::fresh(shape, 7);
  Rng rng(11);
  for (auto& [name, tensor] : file.tensors) {
    for (float& value : tensor.data) value += static_cast<float>(0.02 * rng.normal());
  }
  return file;
}

class SamePublishedNetwork : public testing::TestWithParam<PublishedShape> {};

TEST_P(SamePublishedNetwork, GivesTheSameLikelihoodsWithAndWithoutLibtorch) {
  const Case here("mixed-5");
  const TensorFile file = shaken_network(GetParam());
  const auto network = must(PublishedNetwork::load(file, "test"));
  PublishedActor actor(here.problem, network, here.features.graph);
  CriticalPathTeacher teacher(here.problem);
  std::vector<Episode> episodes(3);
  Lesson lesson{.features = &here.features};
  for (size_t i = 0; i < episodes.size(); ++i) {
    Acting acting{.mode = Acting::Mode::sample, .record = &episodes[i]};
    if (i == 1) acting.teacher = &teacher;
    ASSERT_TRUE(actor.act(acting, Rng(i)));
    lesson.episodes.push_back(&episodes[i]);
    lesson.weights.push_back(1);
  }
  const auto learner = must(make_learner(file, "test", 1));
  const std::vector<float> torch = learner->log_likelihoods(lesson);
  size_t at = 0;
  double most = 0;
  for (const Episode& episode : episodes) {
    ASSERT_EQ(episode.likelihood.size(), 2 * episode.op.size());
    for (const float ours : episode.likelihood) {
      EXPECT_NEAR(ours, torch[at], 1e-5 * std::max(1.0F, std::abs(ours)));
      most = std::max(most, std::abs(static_cast<double>(ours)));
      ++at;
    }
  }
  EXPECT_GT(most, 0.1);
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, SamePublishedNetwork,
    testing::Values(PublishedShape{}, PublishedShape{.width = 16, .steps = 0},
                    PublishedShape{.width = 32, .bookkeeping = Bookkeeping::released},
                    PublishedShape{.learned = Learned::select, .width = 32},
                    PublishedShape{.learned = Learned::place, .width = 32},
                    PublishedShape{.learned = Learned::joint, .width = 32},
                    PublishedShape{.width = 16, .steps = 3, .every_step = true},
                    PublishedShape{.learned = Learned::joint, .width = 16, .every_step = true}));

// The learner's gradient is a tenth of the first moment after one step. Along it, tensor by tensor,
// the mean log-likelihood must grow as fast as the gradient is long.
TEST_P(SamePublishedNetwork, HasTheGradientThatDifferencesShow) {
  const Case here("p100-4", 30);
  PublishedShape shape = GetParam();
  shape.width = 16;
  shape.steps = std::min(shape.steps, 2);
  TensorFile file = shaken_network(shape);
  const auto network = must(PublishedNetwork::load(file, "test"));
  PublishedActor actor(here.problem, network, here.features.graph);
  Episode episode;
  ASSERT_TRUE(actor.act({.mode = Acting::Mode::sample, .record = &episode}, Rng(1)));
  const Lesson lesson{.features = &here.features, .episodes = {&episode}, .weights = {1}};
  const auto gain = [&] {
    double sum = 0;
    const auto learner = must(make_learner(file, "test", 1));
    for (const float likelihood : learner->log_likelihoods(lesson)) sum += likelihood;
    return sum / static_cast<double>(episode.op.size());
  };
  const auto learner = must(make_learner(file, "test", 1));
  learner->step({&lesson, 1}, {.clip_norm = 0});
  const TensorFile after = learner->checkpoint();
  int looked_at = 0;
  for (auto& [name, tensor] : file.tensors) {
    const StoredTensor& moment = after.tensors.at("adam.first." + name);
    double square = 0;
    for (const float value : moment.data) square += 100.0 * static_cast<double>(value * value);
    const double length = std::sqrt(square);
    if (length < 0.1) continue;  // lost in rounding
    const StoredTensor before = tensor;
    const double step = 2e-5;
    const auto move = [&](double way) {
      for (size_t i = 0; i < tensor.data.size(); ++i) {
        tensor.data[i] =
            before.data[i] - static_cast<float>(way * step * 10.0 / length) * moment.data[i];
      }
      return gain();
    };
    const double slope = (move(1) - move(-1)) / (2 * step);
    EXPECT_NEAR(slope, length, 0.05 * length) << name;
    tensor = before;
    ++looked_at;
  }
  EXPECT_GE(looked_at, 5);
}

TEST(PublishedLearner, MakesWhatWasRightMoreLikely) {
  const Case here("p100-4", 30);
  const TensorFile file = PublishedNetwork::fresh({.width = 16, .steps = 2}, 1);
  const auto network = must(PublishedNetwork::load(file, "test"));
  PublishedActor actor(here.problem, network, here.features.graph);
  Episode episode;
  ASSERT_TRUE(actor.act({.mode = Acting::Mode::sample, .record = &episode}, Rng(1)));
  const Lesson lesson{.features = &here.features, .episodes = {&episode}, .weights = {1}};
  const auto learner = must(make_learner(file, "test", 1));
  const auto total = [&] {
    double sum = 0;
    for (const float likelihood : learner->log_likelihoods(lesson)) sum += likelihood;
    return sum;
  };
  const double before = total();
  for (int i = 0; i < 60; ++i) learner->step({&lesson, 1}, {.learning_rate = 3e-3});
  EXPECT_GT(total(), 0.5 * before);  // they are negative
}

TEST(PublishedLearner, GivesTheSameBytesWithAnyNumberOfThreads) {
  const Case here("p100-4", 30);
  const TensorFile file = PublishedNetwork::fresh({.width = 16, .steps = 2}, 1);
  const auto network = must(PublishedNetwork::load(file, "test"));
  PublishedActor actor(here.problem, network, here.features.graph);
  std::vector<Episode> episodes(4);
  std::vector<Lesson> lessons;
  for (size_t i = 0; i < episodes.size(); ++i) {
    ASSERT_TRUE(actor.act({.mode = Acting::Mode::sample, .record = &episodes[i]}, Rng(i)));
    lessons.push_back({.features = &here.features, .episodes = {&episodes[i]}, .weights = {1}});
  }
  std::string first;
  for (const int threads : {1, 2, 3}) {
    const auto learner = must(make_learner(file, "test", threads));
    for (int i = 0; i < 3; ++i) learner->step(lessons, {});
    const std::string bytes = tensors_to_bytes(learner->checkpoint());
    if (first.empty()) first = bytes;
    EXPECT_EQ(first, bytes);
  }
}

TEST(PublishedLearner, LeavesAloneWhatItIsNotToLearn) {
  const Case here("p100-4", 30);
  const TensorFile file = PublishedNetwork::fresh({.width = 8, .steps = 1}, 1);
  const auto network = must(PublishedNetwork::load(file, "test"));
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
