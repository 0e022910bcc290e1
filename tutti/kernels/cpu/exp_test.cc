#include "tutti/kernels/cpu/exp.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tutti::cpu {
namespace {

TEST(Exp, IsExactToTwoUnitsInTheLastPlace) {
  double worst = 0;
  for (int i = -870000; i <= 887000; ++i) {
    const auto x = static_cast<float>(i * 1e-4);
    const double exact = std::exp(static_cast<double>(x));
    const auto rounded = static_cast<float>(exact);
    const double unit = std::nextafter(rounded, INFINITY) - rounded;
    worst = std::max(worst, std::abs(exp_of(x) - exact) / unit);
  }
  EXPECT_LT(worst, 2);
}

TEST(Exp, HasItsLimits) {
  EXPECT_EQ(exp_of(0), 1);
  EXPECT_EQ(exp_of(-INFINITY), 0);
  EXPECT_EQ(exp_of(-1e30F), 0);
  EXPECT_EQ(exp_of(INFINITY), INFINITY);
  EXPECT_EQ(exp_of(1e30F), INFINITY);
  EXPECT_TRUE(std::isnan(exp_of(NAN)));
}

}  // namespace
}  // namespace tutti::cpu
