#include "studies/doppler/nn/standardise.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tutti/base/random.h"

namespace tutti {
namespace {

TEST(Standardise, TakesTheMeanAwayAndDividesByTheSpread) {
  // Columns 1, 2, 3 and 4, 4, 10: means 2 and 6, spreads sqrt(2/3) and sqrt(8).
  std::vector<float> rows = {1, 4, 2, 4, 3, 10};
  std::vector<double> spreads(2);
  standardise(rows.data(), 3, 2, rows.data(), spreads.data());
  EXPECT_NEAR(spreads[0], std::sqrt(2.0 / 3), 1e-6);
  EXPECT_NEAR(spreads[1], std::sqrt(8.0), 1e-6);
  const double expected[] = {-std::sqrt(1.5), -std::sqrt(0.5), 0,
                             -std::sqrt(0.5), std::sqrt(1.5),  std::sqrt(2)};
  for (size_t i = 0; i < rows.size(); ++i) EXPECT_NEAR(rows[i], expected[i], 1e-5);
}

TEST(Standardise, MakesNothingOfRounding) {
  std::vector<float> rows = {0.1F, 1.0F, 0.1F, 1.0F + 2e-6F, 0.1F, 1.0F};
  std::vector<double> spreads(2);
  standardise(rows.data(), 3, 2, rows.data(), spreads.data());
  EXPECT_EQ(rows, std::vector<float>(6, 0.0F));
  std::vector<float> gradient = {1, 2, 3, 4, 5, 6};
  standardise_backward(gradient.data(), rows.data(), spreads.data(), 3, 2, gradient.data());
  EXPECT_EQ(gradient, std::vector<float>(6, 0.0F));
}

// Against differences: the derivative of the sum of weight x y by each x.
TEST(Standardise, HasTheGradientThatDifferencesShow) {
  constexpr int kRows = 5;
  constexpr int kColumns = 3;
  Rng rng(3);
  std::vector<float> x, weight;
  for (int i = 0; i < kRows * kColumns; ++i) {
    x.push_back(static_cast<float>(rng.normal()));
    weight.push_back(static_cast<float>(rng.normal()));
  }
  std::vector<float> y(x.size());
  std::vector<double> spreads(kColumns);
  const auto sum = [&](const std::vector<float>& at) {
    standardise(at.data(), kRows, kColumns, y.data(), spreads.data());
    double total = 0;
    for (size_t i = 0; i < y.size(); ++i) total += static_cast<double>(weight[i] * y[i]);
    return total;
  };
  sum(x);
  std::vector<float> gradient(x.size());
  standardise_backward(weight.data(), y.data(), spreads.data(), kRows, kColumns, gradient.data());
  for (size_t i = 0; i < x.size(); ++i) {
    std::vector<float> moved = x;
    moved[i] += 1e-2F;
    const double more = sum(moved);
    moved[i] = x[i] - 1e-2F;
    const double less = sum(moved);
    EXPECT_NEAR(gradient[i], (more - less) / 2e-2, 2e-3) << i;
  }
}

}  // namespace
}  // namespace tutti
