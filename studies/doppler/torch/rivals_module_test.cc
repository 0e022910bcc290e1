#include <gtest/gtest.h>

#include <ostream>

#include "studies/doppler/nets.h"
#include "studies/doppler/rivals/gdp_net.h"
#include "studies/doppler/rivals/placeto_net.h"
#include "studies/doppler/torch/module_testing.h"
#include "tutti/graph/make/layered.h"
#include "tutti/policy/doppler/model.h"
#include "tutti/train/doppler/teacher.h"

namespace tutti {
namespace {

struct Case {
  Problem problem;
  RivalNetFeatures features;

  Case(const char* preset, int ops)
      : problem(must(Problem::make(must(make_layered({.ops = ops, .width = 8, .seed = 3})),
                                   must(make_preset(preset))))),
        features(problem) {}

  Episode episode(const TensorFile& file, uint64_t seed, Teacher* teacher = nullptr) const {
    const auto model = must(DopplerModel::load(file, "test"));
    Episode episode;
    const Acting acting{.mode = Acting::Mode::sample, .teacher = teacher, .record = &episode};
    EXPECT_TRUE(model.actor(problem, features)->act(acting, Rng(seed)));
    return episode;
  }
};

struct Variant {
  const char* name;
  TensorFile file;
};

void PrintTo(const Variant& variant, std::ostream* out) {
  *out << variant.name;
}

class SameRival : public testing::TestWithParam<Variant> {};

TEST_P(SameRival, GivesTheSameLikelihoodsWithAndWithoutLibtorch) {
  const Case here("mixed-5", 150);
  const TensorFile file = perturbed(GetParam().file, 0.02);
  CriticalPathTeacher teacher(here.problem);
  const Episode episodes[] = {here.episode(file, 0), here.episode(file, 1, &teacher),
                              here.episode(file, 2)};
  expect_same_likelihoods(file, here.features, episodes);
}

// The learner's gradient is a tenth of the first moment after one step. Along it, tensor by tensor,
// the mean log-likelihood must grow as fast as the gradient is long: forwards, backwards, or
// between the two where there is a kink.
TEST_P(SameRival, HasTheGradientThatDifferencesShow) {
  const Case here("p100-4", 30);
  TensorFile file = perturbed(GetParam().file, 0.1);
  const Episode episode = here.episode(file, 1);
  const Lesson lesson{.features = &here.features, .episodes = {&episode}, .weights = {1}};
  const auto gain = [&] {
    const auto learner = must(make_learner(file, "test", 1));
    return sum_of_likelihoods(*learner, lesson) / static_cast<double>(episode.op.size());
  };
  const auto learner = must(make_learner(file, "test", 1));
  learner->step({&lesson, 1}, {.clip_norm = 0});
  const TensorFile after = learner->checkpoint();
  const double now = gain();
  int looked_at = 0;
  for (auto& [name, tensor] : file.tensors) {
    GradientOf gradient(tensor, after.tensors.at("adam.first." + name));
    const double length = gradient.length();
    if (length < 0.02) continue;  // lost in rounding
    const double step = 4e-4;
    const auto move = [&](double way) {
      gradient.move(way, step);
      return gain();
    };
    const double forwards = (move(1) - now) / step;
    const double backwards = (now - move(-1)) / step;
    EXPECT_GT(length, 0.95 * std::min(forwards, backwards)) << name;
    EXPECT_LT(length, 1.05 * std::max(forwards, backwards)) << name;
    ++looked_at;
  }
  EXPECT_GE(looked_at, 5);
}

TEST_P(SameRival, MakesWhatWasRightMoreLikely) {
  const Case here("p100-4", 30);
  const TensorFile& file = GetParam().file;
  const Episode episode = here.episode(file, 1);
  const Lesson lesson{.features = &here.features, .episodes = {&episode}, .weights = {1}};
  const auto learner = must(make_learner(file, "test", 1));
  const double before = sum_of_likelihoods(*learner, lesson);
  for (int i = 0; i < 100; ++i) learner->step({&lesson, 1}, {.learning_rate = 3e-3});
  EXPECT_GT(sum_of_likelihoods(*learner, lesson), 0.8 * before);  // they are negative
}

TEST_P(SameRival, GivesTheSameBytesWithAnyNumberOfThreads) {
  const Case here("p100-4", 30);
  const TensorFile& file = GetParam().file;
  std::vector<Episode> episodes;
  for (uint64_t i = 0; i < 4; ++i) episodes.push_back(here.episode(file, i));
  std::vector<Lesson> lessons;
  for (const Episode& episode : episodes) {
    lessons.push_back({.features = &here.features, .episodes = {&episode}, .weights = {1}});
  }
  expect_same_bytes_with_any_threads(file, lessons, 2, {.entropy_weight = 0.01});
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, SameRival,
    testing::Values(
        Variant{"placeto", PlacetoNet::fresh({}, 7)},
        Variant{"placeto_without_messages", PlacetoNet::fresh({.width = 8, .rounds = 0}, 7)},
        Variant{"gdp", GdpNet::fresh({}, 7)},
        Variant{
            "gdp_in_short_segments",
            GdpNet::fresh({.width = 16, .layers = 1, .blocks = 2, .heads = 2, .segment = 8}, 7)},
        Variant{"gdp_without_attention",
                GdpNet::fresh({.width = 16, .layers = 3, .blocks = 0}, 7)}),
    [](const auto& variant) { return std::string(variant.param.name); });

TEST(RivalLearner, RefusesAModelThatIsNotWhole) {
  for (const TensorFile& good : {PlacetoNet::fresh({}, 7), GdpNet::fresh({}, 7)}) {
    TensorFile file = good;
    file.tensors.erase(file.tensors.begin());
    const auto learner = make_learner(file, "m.safetensors", 1);
    ASSERT_FALSE(learner);
    EXPECT_EQ(learner.error().message.find("m.safetensors: the model has no tensor"), 0U);
  }
}

}  // namespace
}  // namespace tutti
