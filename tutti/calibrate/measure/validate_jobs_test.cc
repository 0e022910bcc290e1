#include "tutti/calibrate/measure/validate_jobs.h"

#include <gtest/gtest.h>

#include "test/support/world.h"
#include "tutti/graph/make/chainmm.h"
#include "tutti/machine/preset.h"
#include "tutti/runtime/arriving/host_counters.h"
#include "tutti/runtime/sim/jobs/arrivals.h"

namespace tutti {
namespace {

JobsValidation of_slowdowns(
    const std::vector<std::pair<std::vector<double>, std::vector<double>>>& by_policy) {
  JobsValidation validation{.machine = "m", .jobs = 10, .seed = 1};
  for (const auto& [real, simulated] : by_policy) {
    validation.policies.push_back({.policy = "p" + std::to_string(validation.policies.size()),
                                   .real = real,
                                   .simulated = simulated});
  }
  return validation;
}

std::vector<Graph> small_graphs() {
  std::vector<Graph> graphs;
  graphs.push_back(must(make_chainmm({.size = 32, .split = {2, 2, 2}, .devices = 1})).graph);
  return graphs;
}

TEST(ValidateJobs, CountsErrorsByHand) {
  const JobsValidation validation =
      of_slowdowns({{{2, 4}, {2.2, 3.8}}, {{4, 6}, {6, 6}}, {{8, 8.2}, {7.9, 8.3}}});
  EXPECT_NEAR(validation.error(0).value, 0, 1e-12);    // 3 against 3
  EXPECT_NEAR(validation.error(1).value, 0.2, 1e-12);  // 6 against 5
  EXPECT_NEAR(validation.mean_error().value, 0.2 / 3, 1e-12);
  EXPECT_NEAR(validation.rank_correlation().value, 1, 1e-12);
  // The second turn alone: 3.8 / 4 - 1.
  EXPECT_NEAR(validation.error(0).low, -0.05, 1e-12);
  EXPECT_NEAR(validation.error(0).high, 0.1, 1e-12);
  EXPECT_EQ(validation.agreement_of_turns(), 1);
}

TEST(ValidateJobs, ComparesOnlyPairsThatDifferInReality) {
  // The first two are alike; the third is far off, and simulated as the best.
  const JobsValidation validation = of_slowdowns({{{2.0, 2.2, 2.1}, {2, 2, 2}},
                                                  {{2.1, 2.1, 2.1}, {3, 3, 3}},
                                                  {{9.0, 9.1, 9.2}, {2.5, 2.5, 2.5}}});
  EXPECT_EQ(validation.pairs().differ, 2);
  EXPECT_EQ(validation.pairs().same_order, 1);
  EXPECT_EQ(of_slowdowns({{{2}, {2}}, {{3}, {3}}}).pairs().differ, 0);  // one turn says nothing
}

TEST(ValidateJobs, IntervalsDoNotDependOnTheRun) {
  const JobsValidation validation = of_slowdowns({{{2, 3, 5}, {2, 4, 4}}, {{4, 4, 6}, {5, 5, 6}}});
  const WithInterval first = validation.mean_error();
  const WithInterval again = validation.mean_error();
  EXPECT_EQ(first.low, again.low);
  EXPECT_EQ(first.high, again.high);
  EXPECT_LE(first.low, first.value);
  EXPECT_GE(first.high, first.value);
}

TEST(ValidateJobs, RunsEachPolicyForRealAndInSimulation) {
  Cluster cluster = must(Cluster::make(must(load_machine("this-host:1x1")), {}));
  JobList jobs = must(add_jobs(cluster, small_graphs()));
  const auto feed = read_host(cluster.machine(), {});
  const std::vector<Counter> counters = counters_for_real(cluster.machine(), *feed);
  const auto deciders = must(find_deciders({"fifo", "heft"}, cluster, counters, {}));
  ValidateJobsOptions options{.simulated = {.queue_depth = 2}};
  options.real.turns = {.warm_up = 0, .repeats = 2, .seed = 3};
  int simulated = 0;
  options.on_simulate = [&](const std::string& /*policy*/, int /*turn*/) { ++simulated; };
  const JobsValidation validation = must(validate_jobs(
      cluster, deciders, counters, *feed,
      [&](uint64_t seed) { return draw_arrivals(jobs, {.jobs_per_s = 2000, .jobs = 5}, seed); },
      options));
  EXPECT_EQ(simulated, 4);
  EXPECT_EQ(validation.jobs, 5);
  ASSERT_EQ(validation.policies.size(), 2u);
  for (const ValidatedPolicy& row : validation.policies) {
    ASSERT_EQ(row.real.size(), 2u);
    ASSERT_EQ(row.simulated.size(), 2u);
    EXPECT_GT(row.real[0], 0);
    EXPECT_GE(row.simulated[0], 1);
    EXPECT_GT(row.decision_time, Duration(0));
  }
  int64_t ops = 0;
  for (const Residual& residual : validation.residuals) ops += residual.count;
  EXPECT_EQ(ops, 2 * 2 * 5 * jobs[0]->graph().size());
  EXPECT_NE(to_text(validation).find("2 turns of 5 jobs under 2 policies"), std::string::npos);
}

TEST(ValidateJobs, SaysThatNothingWasRunInTime) {
  Cluster cluster = must(Cluster::make(must(load_machine("this-host:1x1")), {}));
  JobList jobs = must(add_jobs(cluster, small_graphs()));
  const auto feed = read_host(cluster.machine(), {});
  const auto deciders = must(find_deciders({"fifo", "heft"}, cluster, {}, {}));
  ValidateJobsOptions options;
  options.real.turns = {.warm_up = 0, .repeats = 2, .stop = Stop().by(Stop::Clock::now())};
  const auto stopped = validate_jobs(
      cluster, deciders, {}, *feed,
      [&](uint64_t seed) { return draw_arrivals(jobs, {.jobs_per_s = 2000, .jobs = 5}, seed); },
      options);
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().kind, Error::Kind::failed);
}

}  // namespace
}  // namespace tutti
