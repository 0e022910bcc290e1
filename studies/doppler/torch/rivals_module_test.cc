#include <gtest/gtest.h>

#include <cmath>
#include <ostream>

#include "studies/doppler/nets.h"
#include "studies/doppler/rivals/gdp_network.h"
#include "studies/doppler/rivals/placeto_network.h"
#include "test/support/world.h"
#include "tutti/graph/make/layered.h"
#include "tutti/policy/doppler/model.h"
#include "tutti/train/learner.h"
#include "tutti/train/teacher.h"

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

// All weights and biases are random.
TensorFile shaken(TensorFile file, double by) {
  Rng rng(11);
  for (auto& [name, tensor] : file.tensors) {
    for (float& value : tensor.data) value += static_cast<float>(by * rng.normal());
  }
  return file;
}

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
  const TensorFile file = shaken(GetParam().file, 0.02);
  CriticalPathTeacher teacher(here.problem);
  const Episode episodes[] = {here.episode(file, 0), here.episode(file, 1, &teacher),
                              here.episode(file, 2)};
  Lesson lesson{.features = &here.features};
  for (const Episode& episode : episodes) {
    lesson.episodes.push_back(&episode);
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
  EXPECT_EQ(at, torch.size());
  EXPECT_GT(most, 0.1);
}

// The learner's gradient is a tenth of the first moment after one step. Along it, tensor by tensor,
// the mean log-likelihood must grow as fast as the gradient is long: forwards, backwards, or
// between the two where there is a kink.
TEST_P(SameRival, HasTheGradientThatDifferencesShow) {
  const Case here("p100-4", 30);
  TensorFile file = shaken(GetParam().file, 0.1);
  const Episode episode = here.episode(file, 1);
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
  const double now = gain();
  int looked_at = 0;
  for (auto& [name, tensor] : file.tensors) {
    const StoredTensor& moment = after.tensors.at("adam.first." + name);
    double square = 0;
    for (const float value : moment.data) square += 100.0 * static_cast<double>(value * value);
    const double length = std::sqrt(square);
    if (length < 0.02) continue;  // lost in rounding
    const StoredTensor before = tensor;
    const double step = 4e-4;
    const auto move = [&](double way) {
      for (size_t i = 0; i < tensor.data.size(); ++i) {
        tensor.data[i] =
            before.data[i] - static_cast<float>(way * step * 10.0 / length) * moment.data[i];
      }
      return gain();
    };
    const double forwards = (move(1) - now) / step;
    const double backwards = (now - move(-1)) / step;
    EXPECT_GT(length, 0.95 * std::min(forwards, backwards)) << name;
    EXPECT_LT(length, 1.05 * std::max(forwards, backwards)) << name;
    tensor = before;
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
  const auto total = [&] {
    double sum = 0;
    for (const float likelihood : learner->log_likelihoods(lesson)) sum += likelihood;
    return sum;
  };
  const double before = total();
  for (int i = 0; i < 100; ++i) learner->step({&lesson, 1}, {.learning_rate = 3e-3});
  EXPECT_GT(total(), 0.8 * before);  // they are negative
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
  std::string first;
  for (const int threads : {1, 2, 3}) {
    const auto learner = must(make_learner(file, "test", threads));
    for (int i = 0; i < 2; ++i) learner->step(lessons, {.entropy_weight = 0.01});
    const std::string bytes = tensors_to_bytes(learner->checkpoint());
    if (first.empty()) first = bytes;
    EXPECT_TRUE(first == bytes) << threads << " threads";
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, SameRival,
    testing::Values(
        Variant{"placeto", PlacetoNetwork::fresh({}, 7)},
        Variant{"placeto_without_messages", PlacetoNetwork::fresh({.width = 8, .rounds = 0}, 7)},
        Variant{"gdp", GdpNetwork::fresh({}, 7)},
        Variant{"gdp_in_short_segments",
                GdpNetwork::fresh({.width = 16, .layers = 1, .blocks = 2, .heads = 2, .segment = 8},
                                  7)},
        Variant{"gdp_without_attention",
                GdpNetwork::fresh({.width = 16, .layers = 3, .blocks = 0}, 7)}),
    [](const auto& variant) { return std::string(variant.param.name); });

TEST(RivalLearner, RefusesAModelThatIsNotWhole) {
  for (const TensorFile& good : {PlacetoNetwork::fresh({}, 7), GdpNetwork::fresh({}, 7)}) {
    TensorFile file = good;
    file.tensors.erase(file.tensors.begin());
    const auto learner = make_learner(file, "m.safetensors", 1);
    ASSERT_FALSE(learner);
    EXPECT_EQ(learner.error().message.find("m.safetensors: the model has no tensor"), 0U);
  }
}

}  // namespace
}  // namespace tutti
