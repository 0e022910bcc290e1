#include "studies/symphony/clairvoyant.h"

#include <gtest/gtest.h>

#include "tutti/graph/make/job.h"
#include "tutti/plan/world/default_cluster.h"
#include "tutti/policy/registry.h"
#include "tutti/runtime/sim/jobs/arrivals.h"
#include "tutti/runtime/sim/jobs/billed_load.h"
#include "tutti/runtime/sim/jobs/testing.h"

namespace tutti {
namespace {

JobsRecord run_by(JobSimulator& sim, const std::vector<Arrival>& arrivals, const char* name,
                  uint64_t luck) {
  const auto decider = find_decider(name).value()->tuned_decider();
  return run_jobs(sim, arrivals, *decider, luck).value();
}

double mean_slowdown(const JobsRecord& run) {
  double sum = 0;
  for (const JobRecord& job : run.jobs) sum += job.slowdown();
  return sum / static_cast<double>(run.jobs.size());
}

TEST(Clairvoyant, IsNeverWorseThanWhatItStartsFromAndUsuallyBetter) {
  Cluster cluster = default_cluster();
  const auto jobs = add_jobs(cluster, make_jobs(JobSet::test, 5, 1));
  ASSERT_TRUE(jobs) << jobs.error().message;
  JobSimulator sim(cluster, {.unknown_load = {.share = 0.5}, .record = true});
  const double jobs_per_s = billed_load_rate(0.9, billed_jobs_per_s(cluster, *jobs));
  int better = 0;
  for (uint64_t luck = 1; luck <= 5; ++luck) {
    const auto arrivals = draw_arrivals(*jobs, {.jobs_per_s = jobs_per_s, .jobs = 8}, luck);
    const JobsRecord starts[] = {run_by(sim, arrivals, "fifo", luck),
                                 run_by(sim, arrivals, "heft", luck)};
    const double start = std::min(mean_slowdown(starts[0]), mean_slowdown(starts[1]));
    const Clairvoyant best = find_clairvoyant(sim, arrivals, luck, starts, {.evaluations = 300});
    EXPECT_EQ(best.jobs.size(), 8U);
    EXPECT_LE(best.mean_slowdown, start) << luck;
    better += best.mean_slowdown < 0.97 * start ? 1 : 0;
    const Clairvoyant again = find_clairvoyant(sim, arrivals, luck, starts, {.evaluations = 300});
    EXPECT_EQ(best.mean_slowdown, again.mean_slowdown);
  }
  EXPECT_GE(better, 3);
}

TEST(Clairvoyant, FindsWhatExhaustiveSearchFindsForASmallJob) {
  // Three ops, of which the FPGA runs the first and last: 2 * 2 * 2 placements.
  Cluster cluster = testing::small_cluster();
  const auto job = testing::add(cluster, testing::chain({"match", "compute", "match"}, 100));
  JobSimulator sim(cluster, {.record = true});
  const auto all = find_exhaustively(sim, job, 1);
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_TRUE(all->exhaustive);
  EXPECT_EQ(all->evaluations, 16);
  const std::vector<Arrival> arrivals = {{Duration(0), job}};
  const JobsRecord start = run_by(sim, arrivals, "fifo", 1);
  const Clairvoyant found = find_clairvoyant(sim, arrivals, 1, {&start, 1}, {.evaluations = 200});
  EXPECT_DOUBLE_EQ(found.mean_slowdown, all->mean_slowdown);
  // By hand: configure 500, match 200, 100 bytes over 10 B/ns to the GPU 10, compute 100, back 10,
  // match 200.
  EXPECT_EQ(all->jobs[0].finish, Duration(1020));
}

TEST(Clairvoyant, RefusesToTryTooMuch) {
  Cluster cluster = testing::small_cluster();
  const auto job = testing::add(cluster, testing::chain(std::vector<std::string>(30, "compute")));
  JobSimulator sim(cluster, {});
  const auto all = find_exhaustively(sim, job, 1);
  ASSERT_FALSE(all);
  EXPECT_NE(all.error().message.find("at most 100000 are tried"), std::string::npos);
}

}  // namespace
}  // namespace tutti
