#include "tutti/base/statistics.h"

#include <gtest/gtest.h>

#include <vector>

namespace tutti {
namespace {

TEST(Statistics, QuantilesAreThoseOfTheTables) {
  EXPECT_NEAR(student_quantile(0.975, 1), 12.706, 1e-3);
  EXPECT_NEAR(student_quantile(0.975, 4), 2.776, 1e-3);
  EXPECT_NEAR(student_quantile(0.025, 29), -2.045, 1e-3);
  EXPECT_NEAR(student_quantile(0.5, 7), 0, 1e-6);
}

TEST(Statistics, WholeAndBrokenFreedomsMeet) {
  for (const int freedom : {2, 7, 30}) {
    EXPECT_NEAR(student_quantile(0.9, freedom), student_quantile(0.9, freedom + 1e-9), 1e-6);
  }
}

TEST(Statistics, TheIntervalIsThatOfStudentsTest) {
  const std::vector<double> samples = {4, 2, 6, 8, 5};
  const Summary summary = summary_of(samples);
  EXPECT_EQ(summary.count, 5u);
  EXPECT_DOUBLE_EQ(summary.mean, 5);
  EXPECT_DOUBLE_EQ(summary.median, 5);
  EXPECT_DOUBLE_EQ(summary.least, 2);
  EXPECT_DOUBLE_EQ(summary.most, 8);
  EXPECT_NEAR(summary.deviation, 2.236, 1e-3);
  EXPECT_NEAR(summary.half_interval, 2.776, 1e-3);  // 2.776 * 2.236 / sqrt(5)
}

TEST(Statistics, TheMedianOfAnEvenCountIsBetweenTheTwoInTheMiddle) {
  const std::vector<double> samples = {9, 1, 2, 4};
  EXPECT_DOUBLE_EQ(summary_of(samples).median, 3);
}

TEST(Statistics, OneSampleHasNoSpread) {
  const std::vector<double> one = {7};
  EXPECT_EQ(summary_of(one).half_interval, 0);
  EXPECT_EQ(summary_of(one).mean, 7);
}

}  // namespace
}  // namespace tutti
