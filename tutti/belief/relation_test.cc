#include "tutti/belief/relation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

namespace tutti {
namespace {

// One relation at one point: the value of sum of slope * g, and how it changes.
struct Point {
  std::shared_ptr<const Relation> relation;
  std::vector<std::vector<double>> parents;
  std::vector<double> constants;

  double value() const {
    std::vector<const double*> columns;
    for (const auto& parent : parents) columns.push_back(parent.data());
    const int count = static_cast<int>(parents[0].size());
    std::vector<double> out(parents[0].size());
    relation->mean({.count = count, .parents = columns, .constants = constants}, out.data());
    double sum = 0;
    for (int i = 0; i < count; ++i) sum += slope(i) * out[static_cast<size_t>(i)];
    return sum;
  }
  static double slope(int i) { return 1 + 0.5 * i; }
};

// Compares pull with differences of the value, in every constant and parent.
void expect_true_derivatives(Point point) {
  const size_t count = point.parents[0].size();
  std::vector<const double*> columns;
  std::vector<std::vector<double>> slopes(point.parents.size(), std::vector<double>(count, 0.0));
  std::vector<double*> parent_slopes;
  for (size_t p = 0; p < point.parents.size(); ++p) {
    columns.push_back(point.parents[p].data());
    parent_slopes.push_back(slopes[p].data());
  }
  std::vector<double> weight;
  for (size_t i = 0; i < count; ++i) weight.push_back(Point::slope(static_cast<int>(i)));
  std::vector<double> gradient(point.constants.size(), 0.0);
  point.relation->pull(
      {.count = static_cast<int>(count), .parents = columns, .constants = point.constants},
      weight.data(), parent_slopes.data(), gradient.data());
  const auto difference = [&](double& at) {
    constexpr double kStep = 1e-6;
    const double here = at;
    at = here + kStep;
    const double above = point.value();
    at = here - kStep;
    const double below = point.value();
    at = here;
    return (above - below) / (2 * kStep);
  };
  for (size_t k = 0; k + 1 < point.constants.size(); ++k)  // the last is the noise
    EXPECT_NEAR(gradient[k], difference(point.constants[k]), 1e-6) << "constant " << k;
  for (size_t p = 0; p < point.parents.size(); ++p) {
    for (size_t i = 0; i < count; ++i)
      EXPECT_NEAR(slopes[p][i], difference(point.parents[p][i]), 1e-6) << "parent " << p;
  }
}

const std::vector<std::vector<double>> kParents = {{0.9, 0.3, 0.7}, {0.5, 0.2, 0.6}, {0.1, 0, 0.4}};

TEST(Relation, EveryDerivativeIsThatOfTheValue) {
  expect_true_derivatives({saturating_load({1, 0.5, 2}), kParents, {0.8, 0.05}});
  expect_true_derivatives(
      {saturating_load({1, 0.5, 2}, {true, false, true}), kParents, {0.8, 0.7, 0.9, 0.05}});
  expect_true_derivatives({saturating_mixture(), kParents, {0.8, 0.3, 0.5, 0.05}});
  expect_true_derivatives({any_of(), kParents, {0.8, 0.3, 0.5, 0.05}});
  expect_true_derivatives({share_above_threshold({1, 4, 16}), kParents, {7.0, 0.05}});
  expect_true_derivatives({share_above_threshold({1, 4, 16}), kParents, {3.0, 0.05}});
  expect_true_derivatives({power_of(), {{0.9, 0.3, 0.7}}, {1.7, 0.05}});
  expect_true_derivatives({mean_of(), kParents, {0.05}});
}

TEST(Relation, ResourcesSaturateAtTheirCapacity) {
  EXPECT_NEAR(saturate(0), 0, 0.003);
  EXPECT_NEAR(saturate(0.5), 0.5, 0.006);
  EXPECT_NEAR(saturate(3), 1, 0.002);
  EXPECT_LT(saturate(1e6), 1);
}

TEST(Relation, AThresholdThatIsCountedIsTakenAsCounted) {
  const auto relation = share_above_threshold({1, 4, 16});
  const double shares[] = {0.8, 0.4, 0.1};
  const double* parents[] = {&shares[0], &shares[1], &shares[2]};
  double out = 0;
  const std::vector<double> at_four = {4, 0.05};
  relation->mean({.count = 1, .parents = parents, .constants = at_four}, &out);
  EXPECT_DOUBLE_EQ(out, 0.5);
  const std::vector<double> at_eight = {8, 0.05};
  relation->mean({.count = 1, .parents = parents, .constants = at_eight}, &out);
  EXPECT_DOUBLE_EQ(out, (0.4 + 0.1) / 2 / 0.8);
}

}  // namespace
}  // namespace tutti
