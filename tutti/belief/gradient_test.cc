#include "tutti/belief/gradient.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tutti/belief/relation.h"
#include "tutti/belief/testing.h"

namespace tutti {
namespace {

using testing::cosine;
using testing::DiscreteNetwork;
using testing::Question;
using testing::question_on;
using testing::relative_error;

// Calls `look` with the questions of a few random networks of each sort.
template <class Look>
void for_each_sort(const Look& look) {
  for (const bool is_diamond : {false, true}) {
    using Seen = testing::Seen;
    for (const Seen seen : {Seen::nothing, Seen::root, Seen::leaf}) {
      std::vector<Question> questions;
      for (uint64_t seed = 1; seed <= 5; ++seed)
        questions.push_back(question_on(is_diamond, seen, seed));
      look(questions);
    }
  }
}

TEST(SamplingGradient, PointsWhereTheExactOneDoes) {
  for_each_sort([](std::vector<Question>& questions) {
    double sum = 0;
    int count = 0;
    for (Question& question : questions) {
      const std::vector<double> exact = question.exact_gradient();
      for (uint64_t seed = 1; seed <= 2; ++seed, ++count)
        sum += cosine(question.estimate(1024, seed), exact);
    }
    EXPECT_GE(sum / count, 0.99) << questions[0].name;
  });
}

TEST(SamplingGradient, ErrorFallsWithTheRootOfTheSamples) {
  for_each_sort([](std::vector<Question>& questions) {
    Question& question = questions[0];
    const std::vector<double> exact = question.exact_gradient();
    const auto error = [&](int samples) {
      double squares = 0;
      constexpr int kSeeds = 12;
      for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
        const double off = relative_error(question.estimate(samples, seed), exact);
        squares += off * off / kSeeds;
      }
      return std::sqrt(squares);
    };
    const double slope = std::log(error(2048) / error(64)) / std::log(32.0);
    EXPECT_NEAR(slope, -0.5, 0.1) << question.name;
  });
}

// Eq. 3 as it is printed, on the smallest network where it matters: y -> x, the gradient of Pr(x =
// 1) by what y's probabilities are made of. It weighs each drawn value with how often it was drawn,
// although the samples already come that often.
std::vector<double> literal_gradient(const std::vector<double>& y, const std::vector<double>& f,
                                     int samples, uint64_t seed) {
  Rng rng(seed);
  std::vector<int> drawn(y.size(), 0);
  for (int i = 0; i < samples; ++i) {
    double left = rng.uniform();
    size_t value = 0;
    while (value + 1 < y.size() && left >= y[value]) left -= y[value++];
    ++drawn[value];
  }
  std::vector<double> gradient(y.size(), 0.0);
  for (size_t v = 0; v < y.size(); ++v) {
    const double weight = static_cast<double>(drawn[v]) / samples;
    for (size_t k = 0; k < y.size(); ++k)
      gradient[k] += weight * f[v] * y[v] * ((v == k ? 1 : 0) - y[k]);
  }
  return gradient;
}

TEST(SamplingGradient, IsRightWhereThePrintedFormulaPointsTheWrongWay) {
  int wrong_literal = 0;
  int wrong_ours = 0;
  double cosine_literal = 0;
  double cosine_ours = 0;
  constexpr int kToys = 200;
  for (uint64_t toy = 1; toy <= kToys; ++toy) {
    DiscreteNetwork made;
    Rng rng(toy);
    const VariableId parent = made.add({}, 4, rng);
    const VariableId child = made.add({parent}, 2, rng);
    const Given given{.constants = made.network.start()};
    std::vector<double> y(4);
    std::vector<double> f(4);
    double sum = 0;
    for (int v = 0; v < 4; ++v) sum += y[v] = std::exp(given.constants[v]);
    for (int v = 0; v < 4; ++v) {
      y[v] /= sum;
      f[v] = 1 / (1 + std::exp(given.constants[4 + 2 * v] - given.constants[5 + 2 * v]));
    }
    std::vector<double> exact(4, 0.0);
    for (int v = 0; v < 4; ++v) {
      for (int k = 0; k < 4; ++k) exact[k] += f[v] * y[v] * ((v == k ? 1 : 0) - y[k]);
    }
    const Samples samples = draw_samples(made.network, given, {.samples = 2048, .seed = toy});
    const Sensitivity loss{child, 1};
    std::vector<double> ours =
        sampling_gradient(made.network, given, samples, Reach(made.network, {}), {&loss, 1});
    ours.resize(4);  // those of the parent
    const std::vector<double> literal = literal_gradient(y, f, 2048, toy);
    wrong_ours += cosine(ours, exact) < 0 ? 1 : 0;
    wrong_literal += cosine(literal, exact) < 0 ? 1 : 0;
    cosine_ours += cosine(ours, exact) / kToys;
    cosine_literal += cosine(literal, exact) / kToys;
  }
  EXPECT_GT(wrong_literal, kToys / 10);
  EXPECT_LT(cosine_literal, 0.6);
  EXPECT_LT(wrong_ours, kToys / 50);
  EXPECT_GT(cosine_ours, 0.95);
  RecordProperty("wrong_literal", wrong_literal);
  RecordProperty("wrong_ours", wrong_ours);
}

// Two counters, a resource that both load, a second one above it, and what is seen of the second.
struct Smooth {
  Network network{};
  VariableId a, b, load, both, seen;
  Given given{};

  Smooth() {
    const ConstantId capacity = network.add(Constant{"capacity", Constant::Range::positive, 0.9});
    const ConstantId weight = network.add(Constant{"weight", Constant::Range::share, 0.6});
    const ConstantId other = network.add(Constant{"other", Constant::Range::share, 0.4});
    const ConstantId noise = network.add(Constant{"noise", Constant::Range::positive, 0.05});
    a = network.add(Variable{"a"});
    b = network.add(Variable{"b"});
    load = network.add(Variable{"load", {a, b}, {capacity, noise}, saturating_load({1, 0.5})});
    both = network.add(Variable{"both", {load, b}, {weight, other, noise}, any_of()});
    seen = network.add(Variable{"seen", {both}, {noise}, mean_of()});
    given.constants = network.start();
    given.roots = {{a, belief_of({.mean = 0.4, .spread = 0.2, .count = 8})},
                   {b, belief_of({.mean = 0.5, .spread = 0.3, .count = 8})}};
  }
};

TEST(PathGradient, AgreesWithTheSamplingGradient) {
  for (const bool observed : {false, true}) {
    Smooth smooth;
    std::vector<VariableId> seen;
    if (observed) {
      smooth.given.evidence = {{smooth.seen, 0.6, 0.0025}};
      seen = {smooth.seen};
    }
    const std::vector<Sensitivity> loss = {{smooth.load, 1, 0.5}, {smooth.both, -0.4, 2}};
    const Samples samples = draw_samples(smooth.network, smooth.given, {.samples = 400000});
    const auto by_path =
        path_gradient(smooth.network, smooth.given, samples, Reach(smooth.network, seen), loss);
    const auto by_score =
        sampling_gradient(smooth.network, smooth.given, samples, Reach(smooth.network, seen), loss);
    for (size_t k = 0; k < by_path.size(); ++k)
      EXPECT_NEAR(by_path[k], by_score[k], 0.01) << smooth.network.constants()[k].name;
  }
}

// With the same random numbers on both sides, a difference of losses is a derivative.
TEST(PathGradient, IsTheDerivativeOfTheLossUnderCommonRandomNumbers) {
  Smooth smooth;
  smooth.given.evidence = {{smooth.seen, 0.6, 0.0025}};
  const VariableId seen[] = {smooth.seen};
  const SampleOptions options{.samples = 512, .seed = 3};
  const auto loss = [&] {
    const Samples samples = draw_samples(smooth.network, smooth.given, options);
    return samples.mean(smooth.load) + 2 * samples.spread(smooth.both);
  };
  const std::vector<Sensitivity> sensitivities = {{smooth.load, 1}, {smooth.both, 0, 2}};
  const auto gradient = path_gradient(smooth.network, smooth.given,
                                      draw_samples(smooth.network, smooth.given, options),
                                      Reach(smooth.network, seen), sensitivities);
  const auto evidence = evidence_path_gradient(smooth.network, smooth.given,
                                               draw_samples(smooth.network, smooth.given, options));
  for (size_t k = 0; k < gradient.size(); ++k) {
    constexpr double kStep = 1e-6;
    double& constant = smooth.given.constants[k];
    const double here = constant;
    constant = here + kStep;
    const double above = loss();
    const double above_evidence = draw_samples(smooth.network, smooth.given, options).log_evidence;
    constant = here - kStep;
    const double below = loss();
    const double below_evidence = draw_samples(smooth.network, smooth.given, options).log_evidence;
    constant = here;
    EXPECT_NEAR(gradient[k], (above - below) / (2 * kStep), 1e-6);
    EXPECT_NEAR(evidence[k], (above_evidence - below_evidence) / (2 * kStep), 1e-5);
  }
}

TEST(Gradients, AreTheSameWithAnyNumberOfThreads) {
  Smooth smooth;
  smooth.given.evidence = {{smooth.seen, 0.6, 0.0025}};
  const VariableId seen[] = {smooth.seen};
  const Reach reach(smooth.network, seen);
  const std::vector<Sensitivity> loss = {{smooth.load, 1, 0.5}, {smooth.both, -0.4, 2}};
  std::vector<std::vector<double>> results;
  for (const int threads : {1, 3}) {
    const Samples samples =
        draw_samples(smooth.network, smooth.given, {.samples = 1000, .threads = threads});
    results.push_back(
        sampling_gradient(smooth.network, smooth.given, samples, reach, loss, threads));
    results.push_back(path_gradient(smooth.network, smooth.given, samples, reach, loss, threads));
  }
  EXPECT_EQ(results[0], results[2]);
  EXPECT_EQ(results[1], results[3]);
}

TEST(Reach, ConstantsMoveWhatIsBelowThemAndWhatEvidenceTies) {
  Smooth smooth;
  const Reach blind(smooth.network, {});
  const int load = blind.set_of(smooth.load);
  EXPECT_TRUE(blind.moves(load, smooth.both));
  EXPECT_FALSE(blind.moves(load, smooth.a));
  EXPECT_FALSE(blind.moves(blind.set_of(smooth.both), smooth.load));
  const VariableId seen[] = {smooth.seen};
  const Reach tied(smooth.network, seen);
  EXPECT_TRUE(tied.moves(tied.set_of(smooth.both), smooth.a));
  EXPECT_FALSE(tied.moves(tied.set_of(smooth.both), smooth.seen));
}

}  // namespace
}  // namespace tutti
