#include "tutti/belief/student_t.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tutti/base/random.h"

namespace tutti {
namespace {

TEST(StudentT, QuantilesAreThoseOfThePrintedTables) {
  EXPECT_NEAR(student_t_quantile(0.975, 1), 12.7062, 1e-4);
  EXPECT_NEAR(student_t_quantile(0.975, 4), 2.7764, 1e-4);
  EXPECT_NEAR(student_t_quantile(0.975, 9), 2.2622, 1e-4);
  EXPECT_NEAR(student_t_quantile(0.95, 30), 1.6973, 1e-4);
  EXPECT_NEAR(student_t_quantile(0.025, 7), -2.3646, 1e-4);
  EXPECT_NEAR(student_t_quantile(0.5, 5), 0, 1e-12);
}

TEST(StudentT, QuantileAndCdfUndoEachOther) {
  for (const int freedom : {1, 2, 3, 8, 51, 200}) {
    for (const double p : {0.001, 0.2, 0.5, 0.9, 0.9999}) {
      EXPECT_NEAR(student_t_cdf(student_t_quantile(p, freedom), freedom), p, 1e-10);
    }
  }
}

// Symphony's counter model: 95 % intervals should hold the true value 95 % of the time.
TEST(CounterBelief, IntervalsOfNinetyFivePercentCoverTheTruthThatOften) {
  constexpr int kTrials = 20000;
  for (const int count : {5, 10, 20}) {
    Rng rng(static_cast<uint64_t>(count));
    int covered = 0;
    for (int trial = 0; trial < kTrials; ++trial) {
      const double truth = 10 + 5 * rng.uniform();
      const double error = 0.1 + 3 * rng.uniform();  // nobody knows it
      double sum = 0;
      double squares = 0;
      for (int i = 0; i < count; ++i) {
        const double read = error * rng.normal();
        sum += read;
        squares += read * read;
      }
      const double mean = sum / count;
      const double spread = std::sqrt((squares - count * mean * mean) / (count - 1));
      const CounterBelief belief =
          belief_of({.mean = truth + mean, .spread = spread, .count = count});
      if (std::fabs(truth - belief.center) <= belief.most * belief.scale) ++covered;
    }
    const double share = static_cast<double>(covered) / kTrials;
    EXPECT_GT(share, 0.93) << count << " readings";
    EXPECT_LT(share, 0.97) << count << " readings";
  }
}

TEST(CounterBelief, FewReadingsAreDoubted) {
  const CounterBelief one = belief_of({.mean = 8, .spread = 0, .count = 1});
  EXPECT_EQ(one.freedom, 3);
  EXPECT_EQ(one.scale, 4);
  const CounterBelief many = belief_of({.mean = 8, .spread = 0, .count = 4});
  EXPECT_EQ(many.scale, 0);
}

}  // namespace
}  // namespace tutti
