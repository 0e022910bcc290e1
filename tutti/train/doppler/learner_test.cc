#include "tutti/train/doppler/learner.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "test/support/world.h"
#include "tutti/graph/make/layered.h"
#include "tutti/policy/doppler/general.h"
#include "tutti/policy/doppler/residual_actor.h"
#include "tutti/policy/doppler/residual_net.h"

namespace tutti {
namespace {

// A problem with everything the nets are told about it.
struct Case {
  Problem problem;
  ResidualFeatures features;

  explicit Case(const char* preset, const Constraints& constraints = {})
      : problem(must(Problem::make(must(make_layered({.ops = 60, .width = 8, .seed = 3})),
                                   must(make_preset(preset)), {}, constraints))),
        features(problem) {}
};

// All parameters are random, the biases and the last layers' too, which begin as zeros.
TensorFile shaken_network(const ResidualShape& shape) {
  TensorFile file = ResidualNet::fresh(shape, 7);
  Rng rng(11);
  for (auto& [name, tensor] : file.tensors) {
    for (float& value : tensor.data) value += static_cast<float>(0.05 * rng.normal());
  }
  file.tensors["select.rank"].data = {3};
  file.tensors["place.slack"].data = {0.5};
  return file;
}

// Some ops may not go everywhere.
Constraints some_pins() {
  Constraints constraints;
  constraints.pins = {{"op3", {"fast1"}}, {"op11", {"fast0", "cpu"}}, {"op40", {"slow0", "slow1"}}};
  return constraints;
}

// The log-likelihoods that inference notes in drawn episodes, and those that training finds.
void expect_same(const Case& world, const TensorFile& file) {
  const auto network = must(ResidualNet::load(file, "test"));
  ResidualActor actor(world.problem, network, world.features.rows, world.features.facts);
  std::vector<Episode> episodes(3);
  Lesson lesson{.features = &world.features};
  for (size_t i = 0; i < episodes.size(); ++i) {
    Acting acting{.mode = Acting::Mode::sample, .record = &episodes[i]};
    ASSERT_TRUE(actor.act(acting, Rng(i)));
    lesson.episodes.push_back(&episodes[i]);
    lesson.weights.push_back(1);
  }
  const auto learner = must(make_learner(file, "test", 1));
  const std::vector<float> torch = learner->log_likelihoods(lesson);
  size_t at = 0;
  for (const Episode& episode : episodes) {
    ASSERT_EQ(episode.likelihood.size(), 2 * episode.op.size());
    for (const float ours : episode.likelihood) {
      EXPECT_NEAR(ours, torch[at], 1e-5 * std::max(1.0F, std::abs(ours)));
      ++at;
    }
  }
}

class SameNetwork : public testing::TestWithParam<ResidualShape> {};

TEST_P(SameNetwork, GivesTheSameLikelihoodsWithAndWithoutLibtorch) {
  expect_same(Case("mixed-5"), shaken_network(GetParam()));
}

TEST_P(SameNetwork, GivesTheSameWhereOpsMayNotGoEverywhere) {
  expect_same(Case("mixed-5", some_pins()), shaken_network(GetParam()));
}

TEST(SameNetwork, HoldsForTheModelThatComesWithTutti) {
  Source source = Source::from_text("general", std::string(general_model_bytes()));
  const TensorFile file = must(read_tensors(source));
  expect_same(Case("mixed-5"), file);
  expect_same(Case("cluster-2x4"), file);
}

INSTANTIATE_TEST_SUITE_P(Shapes, SameNetwork,
                         testing::Values(ResidualShape{},
                                         ResidualShape{.width = 16, .second = 8, .rounds = 1},
                                         ResidualShape{.one_pass = true},
                                         ResidualShape{.device_columns = false},
                                         ResidualShape{.marks = 8},
                                         ResidualShape{.estimate = Estimate::without_contention}));

TEST(Learner, MakesWhatWasRightMoreLikely) {
  const Case world("p100-4");
  const TensorFile file = ResidualNet::fresh({.width = 16, .second = 8, .rounds = 2}, 1);
  const auto network = must(ResidualNet::load(file, "test"));
  ResidualActor actor(world.problem, network, world.features.rows, world.features.facts);
  Episode episode;
  ASSERT_TRUE(actor.act({.mode = Acting::Mode::sample, .record = &episode}, Rng(1)));
  const Lesson lesson{.features = &world.features, .episodes = {&episode}, .weights = {1}};
  const auto learner = must(make_learner(file, "test", 1));
  const auto total = [&] {
    double sum = 0;
    for (const float likelihood : learner->log_likelihoods(lesson)) sum += likelihood;
    return sum;
  };
  const double before = total();
  for (int i = 0; i < 60; ++i) learner->step({&lesson, 1}, {.learning_rate = 1e-2});
  EXPECT_GT(total(), 0.9 * before);  // they are negative
}

// Four drawn episodes, a lesson each.
class LearnerOfLessons : public testing::Test {
 protected:
  LearnerOfLessons() : network_(must(ResidualNet::load(file_, "test"))) {
    ResidualActor actor(world_.problem, network_, world_.features.rows, world_.features.facts);
    for (size_t i = 0; i < episodes_.size(); ++i) {
      EXPECT_TRUE(actor.act({.mode = Acting::Mode::sample, .record = &episodes_[i]}, Rng(i)));
      lessons_.push_back({.features = &world_.features,
                          .episodes = {&episodes_[i]},
                          .weights = {i % 2 ? -1.0F : 1.0F}});
    }
  }
  std::unique_ptr<Learner> learner(const TensorFile& file, int threads = 1) {
    return must(make_learner(file, "test", threads));
  }
  static std::string bytes(const Learner& learner) {
    return tensors_to_bytes(learner.checkpoint());
  }

  const Case world_{"p100-4"};
  const TensorFile file_ = ResidualNet::fresh({.width = 16, .second = 8, .rounds = 2}, 1);
  const ResidualNet network_;
  std::vector<Episode> episodes_ = std::vector<Episode>(4);
  std::vector<Lesson> lessons_;
};

TEST_F(LearnerOfLessons, GoesOnFromACheckpointAsIfItHadNeverStopped) {
  const auto whole = learner(file_);
  for (int i = 0; i < 4; ++i) whole->step(lessons_, {});
  const auto first = learner(file_, 2);
  for (int i = 0; i < 2; ++i) first->step(lessons_, {});
  Source kept = Source::from_text("kept", bytes(*first));
  const auto second = learner(must(read_tensors(kept)), 2);
  for (int i = 0; i < 2; ++i) second->step(lessons_, {});
  EXPECT_EQ(bytes(*whole), bytes(*second));
}

TEST_F(LearnerOfLessons, ReturnsToWhatWasKept) {
  const auto plain = learner(file_);
  const auto undone = learner(file_);
  for (int i = 0; i < 3; ++i) {
    plain->step(lessons_, {});
    undone->step(lessons_, {});
    const std::string before = bytes(*undone);
    undone->keep();
    for (int k = 0; k <= i; ++k) undone->step(lessons_, {.learning_rate = 0.1});
    EXPECT_NE(bytes(*undone), before);
    undone->undo();
    EXPECT_EQ(bytes(*undone), before);
    undone->undo();  // again: there is nothing to do
    EXPECT_EQ(bytes(*undone), before);
  }
  EXPECT_EQ(bytes(*plain), bytes(*undone));
}

TEST_F(LearnerOfLessons, WithoutMomentsIsALearnerOfTheModelAlone) {
  const auto old = learner(file_);
  for (int i = 0; i < 3; ++i) old->step(lessons_, {});
  const auto fresh = learner(old->model());
  EXPECT_NE(bytes(*old), bytes(*fresh));
  old->forget_moments();
  EXPECT_EQ(bytes(*old), bytes(*fresh));
  old->step(lessons_, {});
  fresh->step(lessons_, {});
  EXPECT_EQ(bytes(*old), bytes(*fresh));
}

TEST_F(LearnerOfLessons, SaysWhetherParametersAreStillFinite) {
  const auto one = learner(file_);
  EXPECT_TRUE(one->step(lessons_, {})->finite);
  one->keep();
  const std::string before = bytes(*one);
  EXPECT_FALSE(
      one->step(lessons_, {.learning_rate = std::numeric_limits<double>::infinity()})->finite);
  one->undo();
  EXPECT_EQ(bytes(*one), before);
}

}  // namespace
}  // namespace tutti
