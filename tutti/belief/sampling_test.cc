#include "tutti/belief/sampling.h"

#include <gtest/gtest.h>

#include "tutti/belief/draws.h"
#include "tutti/belief/relation.h"
#include "tutti/belief/testing.h"

namespace tutti {
namespace {

TEST(Sampling, WeightedMeansAreTheExactOnesUnderEvidence) {
  for (const bool is_diamond : {false, true}) {
    const testing::DiscreteNetwork made = is_diamond ? testing::diamond(11) : testing::polytree(11);
    const Given given{.constants = made.network.start(), .evidence = {{VariableId{3}, 2}}};
    const Samples samples = draw_samples(made.network, given, {.samples = 100000});
    for (const VariableId id : made.network.variables())
      EXPECT_NEAR(samples.mean(id), testing::exact_mean(made, given, id), 0.02) << id.index;
  }
}

TEST(Sampling, ANormalPosteriorIsTheOneOfTheTextbook) {
  const testing::SeenNormal example;
  const Samples samples = draw_samples(example.network, example.given, {.samples = 200000});
  EXPECT_NEAR(samples.mean(example.root), testing::SeenNormal::kMean, 0.002);
  EXPECT_NEAR(samples.spread(example.root), testing::SeenNormal::kSpread, 0.002);
  EXPECT_LT(samples.effective(), 150000);
}

TEST(Sampling, GivesTheSameBytesWithAnyNumberOfThreads) {
  const testing::SeenNormal example;
  const Samples one = draw_samples(example.network, example.given, {.samples = 777});
  const Samples four = draw_samples(example.network, example.given, {.samples = 777, .threads = 4});
  EXPECT_EQ(one.weights, four.weights);
  EXPECT_EQ(one.mean(example.root), four.mean(example.root));
}

// Moments of many draws: 0, 1, 0, 3 for normals; for t of seven degrees of freedom, the shares of a
// table of the distribution, cut and stretched to 95 %.
TEST(Draws, HaveTheirDistribution) {
  constexpr int kDraws = 200000;
  std::vector<double> x(kDraws);
  Rng rng(5);
  draw_normals(rng, kDraws, x.data());
  double moments[5] = {};
  for (const double value : x) {
    for (int power = 1; power <= 4; ++power) moments[power] += std::pow(value, power) / kDraws;
  }
  EXPECT_NEAR(moments[1], 0, 0.01);
  EXPECT_NEAR(moments[2], 1, 0.015);
  EXPECT_NEAR(moments[3], 0, 0.04);
  EXPECT_NEAR(moments[4], 3, 0.1);
  draw_central_t(rng, 7, kDraws, x.data());
  EXPECT_NEAR(central_bound(7), 2.365, 1e-3);
  for (const auto& [bound, share] : {std::pair(0.711, 0.75), {1.415, 0.90}, {1.895, 0.95}}) {
    const auto below =
        std::count_if(x.begin(), x.end(), [bound = bound](double v) { return v < bound; });
    EXPECT_NEAR(static_cast<double>(below) / kDraws, (share - 0.025) / 0.95, 0.004) << bound;
  }
}

TEST(Sampling, RootsStayInTheirCentralNinetyFivePercent) {
  Network network;
  const VariableId root = network.add(Variable{"root"});
  const CounterBelief belief = belief_of({.mean = 3, .spread = 1, .count = 5});
  const Samples samples =
      draw_samples(network, {.constants = {}, .roots = {{root, belief}}}, {.samples = 20000});
  double most = 0;
  for (const double x : samples.column(root)) most = std::max(most, std::fabs(x - 3));
  EXPECT_LE(most, belief.scale * belief.most);
  EXPECT_GT(most, 0.98 * belief.scale * belief.most);
}

TEST(Sampling, EvidenceThatNothingExplainsLeavesEqualWeights) {
  testing::SeenNormal example;
  example.given.evidence[0].value = 1e200;
  const Samples samples = draw_samples(example.network, example.given, {.samples = 64});
  EXPECT_DOUBLE_EQ(samples.effective(), 64);
}

}  // namespace
}  // namespace tutti
