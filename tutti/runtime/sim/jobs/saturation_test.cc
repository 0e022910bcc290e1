#include "tutti/runtime/sim/jobs/saturation.h"

#include <gtest/gtest.h>

#include "tutti/runtime/sim/jobs/in_system.h"
#include "tutti/runtime/sim/jobs/job_simulator.h"
#include "tutti/runtime/sim/jobs/testing.h"

namespace tutti {
namespace {

using testing::add;
using testing::chain;
using testing::FirstLegal;
using testing::small_cluster;

// "compute" on the GPU alone: one job of 100 ns at a time, 10 million per second.
Cluster gpu_only() {
  CostSpec costs = testing::small_costs();
  std::erase_if(costs.run_times, [](const auto& row) { return row.device_kind != "gpu"; });
  return small_cluster(costs);
}

SaturationDecider first_legal() {
  return {"first", [] { return std::make_unique<FirstLegal>(); }};
}

Saturation must_find(const Cluster& cluster, const JobList& jobs, const JobSimOptions& options,
                     uint64_t seed) {
  const SaturationDecider deciders[] = {first_legal()};
  const auto found = find_saturation(cluster, jobs, options, deciders, seed);
  EXPECT_TRUE(found) << found.error().message;
  return found.value();
}

JobRecord record(int64_t arrival, int64_t finish) {
  JobRecord made;
  made.arrival = Duration(arrival);
  made.finish = Duration(finish);
  return made;
}

TEST(JobsInSystem, AreCountedOverTime) {
  // One from 10 to 30, another from 20 to 50: 20 + 30 within 40.
  const JobRecord jobs[] = {record(10, 30), record(20, 50)};
  EXPECT_DOUBLE_EQ(jobs_in_system(jobs).mean, 50.0 / 40);
  EXPECT_EQ(jobs_in_system(jobs).most, 2);
  // One that comes as another ends is not there with it.
  const JobRecord turns[] = {record(0, 10), record(10, 20)};
  EXPECT_DOUBLE_EQ(jobs_in_system(turns).mean, 1);
  EXPECT_EQ(jobs_in_system(turns).most, 1);
  EXPECT_EQ(jobs_in_system(std::span<const JobRecord>{}).most, 0);
}

TEST(JobsInSystem, HaveAMeanInEachInterval) {
  // Intervals of 20: the first job is there for 10 + 10, the second has not ended.
  const JobRecord jobs[] = {record(10, 30), record(20, 0), record(90, 0)};
  EXPECT_EQ(jobs_in_system(jobs, Duration(0), Duration(60), 3), (std::vector{0.5, 1.5, 1.0}));
}

TEST(Saturation, ATrendIsALineThatRisesBeyondItsError) {
  EXPECT_TRUE(has_upward_trend(std::vector<double>{1, 2, 3, 4, 5, 6}));
  EXPECT_FALSE(has_upward_trend(std::vector<double>{6, 5, 4, 3, 2, 1}));
  EXPECT_FALSE(has_upward_trend(std::vector<double>{2, 2, 2, 2, 2, 2}));
  EXPECT_FALSE(has_upward_trend(std::vector<double>{1, 5, 2, 6, 1, 5}));
}

TEST(Saturation, IsNearTheRateOfTheOnlyDevice) {
  Cluster cluster = gpu_only();
  const JobList jobs = {add(cluster, chain({"compute"}))};
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    const Saturation found = must_find(cluster, jobs, {}, seed);
    EXPECT_GT(found.jobs_per_s, 0.88e7) << seed;
    EXPECT_LT(found.jobs_per_s, 1.05e7) << seed;
  }
}

TEST(Saturation, DelayOfDecisionsLowersItUnlessOpsAreQueued) {
  // 100 ns after each op of 100: half as many. From the queue they follow each other.
  Cluster cluster = gpu_only();
  const JobList jobs = {add(cluster, chain({"compute"}))};
  const double idle = must_find(cluster, jobs, {.decision_delay = Duration(100)}, 1).jobs_per_s;
  EXPECT_GT(idle, 0.44e7);
  EXPECT_LT(idle, 0.53e7);
  const JobSimOptions queued{.queue_depth = 2, .decision_delay = Duration(100)};
  EXPECT_GT(must_find(cluster, jobs, queued, 1).jobs_per_s, 0.8e7);
}

TEST(Saturation, IsTheSameWithTheSameSeedAndCanBeGivenAgain) {
  Cluster cluster = small_cluster();
  const JobList jobs = {add(cluster, chain({"compute", "stream"}, 100)),
                        add(cluster, chain({"match"}))};
  const JobSimOptions options{.unknown_load = {.share = 0.5}};
  const Saturation first = must_find(cluster, jobs, options, 3);
  EXPECT_EQ(first.jobs_per_s, must_find(cluster, jobs, options, 3).jobs_per_s);
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", first.jobs_per_s);
  EXPECT_EQ(std::stod(text), first.jobs_per_s);
}

// Takes nothing but the CPU, a tenth as quick.
class CpuOnly final : public Decider {
 public:
  void begin(const Cluster&, uint64_t) override {}
  Action decide(const WorldState& state) override {
    legal_actions(state, actions_);
    for (const Action& action : actions_) {
      if (action.kind == Action::Kind::no_op || action.device == DeviceId{0}) return action;
    }
    return actions_.front();
  }

 private:
  std::vector<Action> actions_;
};

TEST(Saturation, IsThatOfTheDeciderThatKeepsUpWithMost) {
  Cluster cluster = small_cluster();
  const JobList jobs = {add(cluster, chain({"compute"}))};
  const SaturationDecider slow{"slow", [] { return std::make_unique<CpuOnly>(); }};
  const SaturationDecider quick = first_legal();
  for (const auto& both : {std::vector{slow, quick}, std::vector{quick, slow}}) {
    const auto found = find_saturation(cluster, jobs, {}, both, 1);
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(found->decider, "first");
  }
}

}  // namespace
}  // namespace tutti
