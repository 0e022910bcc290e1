#include "tutti/belief/counter_belief.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tutti/base/random.h"

namespace tutti {
namespace {

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
