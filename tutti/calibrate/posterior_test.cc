#include "tutti/calibrate/posterior.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tutti/base/random.h"

namespace tutti {
namespace {

constexpr double kTime = 1e6;

double draw(Rng& rng, double spread, double freedom) {
  return kTime * std::exp(spread * rng.student_t(freedom));
}

std::optional<Change> add(Posterior& posterior, double ns) {
  return posterior.add({&ns, 1});
}

TEST(Posterior, FindsLocationAndSpread) {
  Rng rng(3);
  Posterior posterior;
  for (int i = 0; i < 64; ++i) add(posterior, kTime * std::exp(0.1 * rng.normal()));
  const Posterior::Estimate estimate = posterior.estimate();
  EXPECT_NEAR(estimate.mean_ns / kTime, 1, 0.04);
  EXPECT_NEAR(estimate.spread, 0.1, 0.03);
  EXPECT_EQ(posterior.count(), 64);
}

// Of intervals said to hold the truth with 90 %, about as many do, whatever the tails.
TEST(Posterior, HasIntervalsThatHoldTheTruthAsOftenAsTheySay) {
  for (const double freedom : {4.0, 8.0, 1e6}) {
    for (const int runs : {5, 12, 40}) {
      Rng rng(17);
      int held = 0;
      constexpr int kTrials = 400;
      for (int trial = 0; trial < kTrials; ++trial) {
        Posterior posterior;
        for (int i = 0; i < runs; ++i) add(posterior, draw(rng, 0.08, freedom));
        const auto interval = posterior.estimate().interval(0.9);
        held += interval.least_ns <= kTime && kTime <= interval.most_ns ? 1 : 0;
      }
      const double share = static_cast<double>(held) / kTrials;
      EXPECT_GT(share, 0.84) << freedom << " degrees of freedom, runs: " << runs;
      EXPECT_LT(share, 0.97) << freedom << " degrees of freedom, runs: " << runs;
    }
  }
}

// Samples of one run share its weather: a hundred of them tell little more than one.
TEST(Posterior, IsNoSurerForManySamplesOfOneRun) {
  int held = 0;
  constexpr int kTrials = 200;
  Rng rng(29);
  for (int trial = 0; trial < kTrials; ++trial) {
    Posterior posterior;
    for (int run = 0; run < 10; ++run) {
      const double weather = std::exp(0.1 * rng.normal());
      std::vector<double> ns;
      for (int i = 0; i < 100; ++i) ns.push_back(weather * draw(rng, 0.01, 8));
      EXPECT_FALSE(posterior.add(ns).has_value());
    }
    EXPECT_EQ(posterior.count(), 1000);
    EXPECT_EQ(posterior.runs_kept(), 10);
    const auto interval = posterior.estimate().interval(0.9);
    held += interval.least_ns <= kTime && kTime <= interval.most_ns ? 1 : 0;
  }
  EXPECT_GT(held, 0.82 * kTrials);
}

TEST(Posterior, IsNotMovedByOneSpikeAndForgetsNothingForIt) {
  for (const int place : {3, 10, 29}) {
    Rng rng(5);
    Posterior clean;
    Posterior spiked;
    for (int i = 0; i < 30; ++i) {
      const double ns = draw(rng, 0.02, 8);
      add(clean, ns);
      EXPECT_FALSE(add(spiked, i == place ? 500 * ns : ns).has_value()) << i;
    }
    EXPECT_NEAR(spiked.estimate().mean_ns / clean.estimate().mean_ns, 1, 0.005);
    EXPECT_LT(spiked.estimate().spread, 2 * clean.estimate().spread);
    EXPECT_EQ(spiked.runs_kept(), 30);
    EXPECT_EQ(spiked.outliers(), place < 8 ? 0 : 1);  // before that nobody knows what is far
  }
}

// However little is known: of two runs the shorter is believed.
TEST(Posterior, IsNotMovedByOneSpikeAmongFewRuns) {
  for (const int runs : {2, 3, 4, 5, 6, 7}) {
    for (int place = 0; place < runs; ++place) {
      Rng rng(11);
      Posterior posterior;
      for (int i = 0; i < runs; ++i) {
        add(posterior, draw(rng, 0.02, 8) * (i == place ? 500 : 1));
      }
      EXPECT_NEAR(posterior.estimate().mean_ns / kTime, 1, 0.05) << runs << " runs, " << place;
    }
  }
}

// The rest of its run counts as before: here a run that was quicker than the others.
TEST(Posterior, CountsWhatARunHadBesideItsSpike) {
  Posterior clean;
  Posterior spiked;
  for (int run = 0; run < 6; ++run) {
    const double usual = kTime * (run == 5 ? 0.8 : 1);
    std::vector<double> ns(8, usual);
    clean.add(ns);
    ns[3] *= run == 5 ? 500 : 1;
    spiked.add(ns);
  }
  EXPECT_NEAR(spiked.estimate().mean_ns / clean.estimate().mean_ns, 1, 0.01);
}

// Nor by a whole run that was 500 times as long, however many samples it had.
TEST(Posterior, IsNotMovedByOneSlowRun) {
  Rng rng(6);
  Posterior posterior;
  for (int run = 0; run < 20; ++run) {
    std::vector<double> ns;
    for (int i = 0; i < 70; ++i) ns.push_back(draw(rng, 0.02, 8) * (run == 12 ? 500 : 1));
    EXPECT_FALSE(posterior.add(ns).has_value());
  }
  EXPECT_NEAR(posterior.estimate().mean_ns / kTime, 1, 0.02);
  EXPECT_EQ(posterior.outliers(), 70);
  EXPECT_EQ(posterior.runs_kept(), 20);
}

// One op in fifty waits for five times its length, in every run: the mean of many is 8 % longer.
TEST(Posterior, CountsDelaysThatComeAgainAndAgain) {
  Rng rng(8);
  Posterior posterior;
  for (int run = 0; run < 30; ++run) {
    std::vector<double> ns;
    for (int i = 0; i < 50; ++i) ns.push_back(draw(rng, 0.02, 8) * (i == 7 ? 5 : 1));
    posterior.add(ns);
  }
  EXPECT_NEAR(posterior.estimate().mean_ns / kTime, 1.08, 0.025);
}

// The same where a run has one op only: one run in ten is late.
TEST(Posterior, CountsRunsThatAreLateAgainAndAgain) {
  Rng rng(8);
  Posterior posterior;
  for (int run = 0; run < 60; ++run) {
    add(posterior, draw(rng, 0.02, 8) * (run % 10 == 4 ? 4 : 1));
  }
  EXPECT_NEAR(posterior.estimate().mean_ns / kTime, 1.3, 0.06);
}

TEST(Posterior, FollowsAChangeThatStaysAndSaysSo) {
  for (const double ratio : {1.4, 1.15, 0.7}) {
    Rng rng(7);
    Posterior posterior;
    for (int i = 0; i < 40; ++i) EXPECT_FALSE(add(posterior, draw(rng, 0.03, 5)).has_value());
    int delay = 0;
    std::optional<Change> change;
    while (!change && delay < 40) {
      change = add(posterior, ratio * draw(rng, 0.03, 5));
      ++delay;
    }
    ASSERT_TRUE(change) << ratio;
    EXPECT_LE(delay, 12) << ratio;
    EXPECT_NEAR(change->ratio, ratio, 0.05);
    EXPECT_NEAR(static_cast<double>(change->since), 40, 2);
    EXPECT_NEAR(posterior.estimate().mean_ns / kTime, ratio, 0.04);
  }
}

// Some runs in a hundred are several times as long, as on any busy machine.
TEST(Posterior, SeldomTakesSteadyNoiseForAChange) {
  int alarms = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Rng rng(seed);
    Posterior posterior;
    for (int i = 0; i < 5000; ++i) {
      const double ns = draw(rng, 0.05, 4) * (rng.uniform() < 0.02 ? 4 : 1);
      alarms += add(posterior, ns) ? 1 : 0;
    }
  }
  EXPECT_LE(alarms, 2);  // of 100,000
}

TEST(Posterior, GoesOnFromItsState) {
  Rng rng(9);
  Posterior whole;
  Posterior first;
  for (int i = 0; i < 50; ++i) {
    const double ns = draw(rng, 0.05, 4) * (i < 40 ? 1 : 1.1);
    add(whole, ns);
    if (i == 43) first = Posterior::from(first.state());
    add(first, ns);
  }
  EXPECT_EQ(whole.state().rise, first.state().rise);
  EXPECT_EQ(whole.estimate().mean_ns, first.estimate().mean_ns);
}

}  // namespace
}  // namespace tutti
