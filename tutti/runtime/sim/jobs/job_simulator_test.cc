#include "tutti/runtime/sim/jobs/job_simulator.h"

#include <gtest/gtest.h>

#include "tutti/runtime/sim/jobs/testing.h"

namespace tutti {
namespace {

using testing::add;
using testing::chain;
using testing::FirstLegal;
using testing::small_cluster;

const DeviceId kCpu{0};
const DeviceId kGpu{1};
const DeviceId kFpga{2};

std::vector<Arrival> at_once(std::vector<std::shared_ptr<const Job>> jobs) {
  std::vector<Arrival> arrivals;
  for (auto& job : jobs) arrivals.push_back({Duration(0), std::move(job)});
  return arrivals;
}

Action run_on(int job, int op, DeviceId device) {
  return Action::execute(JobId{job}, OpId{op}, device);
}

TEST(JobSimulator, OpsOnTheThreadsOfOneCoreSlowEachOtherDown) {
  // Two cores with two threads. Two ops of 0.8 of a core run at full speed, four at 1 / 1.6 each.
  Cluster cluster = small_cluster();
  const auto job = add(cluster, chain({"compute"}));
  for (const int count : {2, 4}) {
    JobSimulator sim(cluster, {});
    sim.reset(at_once(std::vector(count, job)), 1);
    for (int i = 0; i < count; ++i) ASSERT_TRUE(sim.step(run_on(i, 0, kCpu)));
    while (!sim.done()) ASSERT_TRUE(sim.step(Action::nothing()));
    for (const JobRecord& record : sim.jobs())
      EXPECT_EQ(record.finish, Duration(count == 2 ? 1000 : 1600));
  }
}

TEST(JobSimulator, OpsThatShareTheMemorysBandwidthSlowEachOtherDown) {
  // Two ops draw 60 B/ns each of 100: they take 1.2 times as long.
  Cluster cluster = small_cluster();
  const auto job = add(cluster, chain({"stream"}));
  JobSimulator sim(cluster, {});
  sim.reset(at_once({job, job}), 1);
  ASSERT_TRUE(sim.step(run_on(0, 0, kCpu)));
  ASSERT_TRUE(sim.step(run_on(1, 0, kCpu)));
  while (!sim.done()) ASSERT_TRUE(sim.step(Action::nothing()));
  EXPECT_EQ(sim.jobs()[1].finish, Duration(1200));
  EXPECT_DOUBLE_EQ(sim.utilisation(resource_of(cluster.machine().host_memory())), 1);
}

TEST(JobSimulator, JobsMayComeWhileItRuns) {
  Cluster cluster = small_cluster();
  const auto job = add(cluster, chain({"compute"}));
  JobSimulator sim(cluster, {});
  sim.reset({}, 1);
  EXPECT_TRUE(sim.done());
  const JobId first = sim.arrive(job);
  EXPECT_FALSE(sim.ended(first));
  ASSERT_TRUE(sim.step(run_on(0, 0, kCpu)));
  EXPECT_TRUE(sim.done());
  EXPECT_TRUE(sim.ended(first));
  // Time stood still while nobody was there.
  sim.arrive(job);
  ASSERT_TRUE(sim.step(run_on(1, 0, kCpu)));
  EXPECT_EQ(sim.jobs()[1].arrival, Duration(1000));
  EXPECT_EQ(sim.jobs()[1].finish, Duration(2000));
  // Amid the decisions of one epoch: it is there in the next, at the same time.
  sim.reset(at_once({job, job}), 1);
  ASSERT_TRUE(sim.step(run_on(0, 0, kCpu)));
  const JobId third = sim.arrive(job);
  EXPECT_EQ(sim.state().in_system.size(), 2U);
  EXPECT_FALSE(sim.ended(third));
  ASSERT_TRUE(sim.step(run_on(1, 0, kCpu)));
  EXPECT_EQ(sim.state().in_system.size(), 3U);
  EXPECT_EQ(sim.state().now, Duration(0));
  ASSERT_TRUE(sim.step(run_on(2, 0, kCpu)));
  EXPECT_TRUE(sim.ended(third));
}

TEST(JobSimulator, ValuesTravelWhenAnOpIsLaunchedElsewhere) {
  // 1000 on the CPU; 500 bytes at 10 B/ns: 50; 100 on the GPU.
  Cluster cluster = small_cluster();
  const auto job = add(cluster, chain({"compute", "compute"}, 500));
  JobSimulator sim(cluster, {.record = true});
  sim.reset(at_once({job}), 1);
  ASSERT_TRUE(sim.step(run_on(0, 0, kCpu)));
  EXPECT_EQ(sim.state().now, Duration(1000));
  EXPECT_EQ(sim.state().fetch_time(sim.state().job(JobId{0}), OpId{1}, kGpu), Duration(50));
  ASSERT_TRUE(sim.step(run_on(0, 1, kGpu)));
  ASSERT_TRUE(sim.done());
  EXPECT_EQ(sim.jobs()[0].finish, Duration(1150));
  ASSERT_EQ(sim.jobs()[0].trace.transfers.size(), 1U);
  EXPECT_EQ(sim.jobs()[0].trace.transfers[0].start, Duration(1000));
  EXPECT_EQ(sim.jobs()[0].trace.ops[1].start, Duration(1050));
}

TEST(JobSimulator, AContextRunsOnlyWhatItIsConfiguredFor) {
  Cluster cluster = small_cluster();
  const auto job = add(cluster, chain({"match"}));
  JobSimulator sim(cluster, {});
  sim.reset(at_once({job}), 1);
  const Result<double> refused = sim.step(run_on(0, 0, kFpga));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "fpga has no free slot for op 'op0' of job 0");
  const OpKindId match = job->kind(OpId{0});
  ASSERT_TRUE(sim.step(Action::reconfigure(kFpga, 0, match)));
  ASSERT_TRUE(sim.step(Action::nothing()));
  EXPECT_EQ(sim.state().now, Duration(500));
  ASSERT_TRUE(sim.step(run_on(0, 0, kFpga)));
  ASSERT_TRUE(sim.done());
  EXPECT_EQ(sim.jobs()[0].finish, Duration(700));
}

TEST(JobSimulator, RefusesWhatIsNotAllowedAndChangesNothing) {
  Cluster cluster = small_cluster();
  const auto job = add(cluster, chain({"compute", "compute"}));
  JobSimulator sim(cluster, {});
  sim.reset(at_once({job}), 1);
  for (const Action& action :
       {Action::nothing(), run_on(0, 1, kCpu), run_on(0, 0, kFpga), run_on(3, 0, kCpu),
        run_on(0, 9, kCpu), run_on(0, 0, DeviceId{9}), Action::reconfigure(kCpu, 0, OpKindId{0}),
        Action::reconfigure(kFpga, 0, OpKindId{0})}) {
    EXPECT_FALSE(sim.step(action));
  }
  EXPECT_EQ(sim.decisions(), 0);
  EXPECT_EQ(sim.state().busy_slots, 0);
}

TEST(JobSimulator, EverythingLegalIsAllowedAndNothingElseIsListed) {
  Cluster cluster = small_cluster();
  const auto job = add(cluster, chain({"match", "compute", "stream"}, 100));
  JobSimulator sim(cluster, {});
  std::vector<Arrival> arrivals;
  for (int i = 0; i < 30; ++i) arrivals.push_back({Duration(300 * i), job});
  sim.reset(arrivals, 1);
  Rng rng(5);
  std::vector<Action> actions;
  while (!sim.done()) {
    ASSERT_TRUE(can_act(sim.state()));
    legal_actions(sim.state(), actions);
    for (const Action& action : actions) ASSERT_TRUE(check_action(sim.state(), action));
    ASSERT_TRUE(sim.step(actions[rng.below(actions.size())]));
  }
  for (const JobRecord& record : sim.jobs()) {
    EXPECT_GE(record.start, record.arrival);
    EXPECT_GE(record.completion(), job->critical_path());
  }
}

TEST(JobSimulator, SameSeedGivesTheSameRunAndAnotherSeedAnother) {
  CostSpec costs = testing::small_costs();
  costs.run_time_noise = {NoiseSpec::Model::log_normal, 0.2};
  Cluster cluster = small_cluster(costs);
  const auto job = add(cluster, chain({"compute", "stream", "compute"}, 200));
  JobSimulator sim(
      cluster, {.unknown_load = {.share = 0.5, .mean_on = Duration(700), .mean_off = Duration(700)},
                .counters = usual_counters(cluster.machine())});
  FirstLegal first;
  std::vector<Duration> finishes[3];
  for (int i = 0; i < 3; ++i) {
    const auto run = run_jobs(sim, at_once(std::vector(8, job)), first, i < 2 ? 7 : 8);
    ASSERT_TRUE(run) << run.error().message;
    for (const JobRecord& record : run->jobs) finishes[i].push_back(record.finish);
  }
  EXPECT_EQ(finishes[0], finishes[1]);
  EXPECT_NE(finishes[0], finishes[2]);
}

TEST(JobSimulator, UnknownLoadSlowsWhatItSharesWith) {
  Cluster cluster = small_cluster();
  const auto job = add(cluster, chain({"stream", "stream", "stream", "stream"}));
  Duration makespan[2];
  for (const int loaded : {0, 1}) {
    JobSimulator sim(cluster, {.unknown_load = {.share = loaded * 0.8,
                                                .spread = 1,
                                                .mean_on = Duration(2000),
                                                .mean_off = Duration(200)}});
    FirstLegal first;
    const auto run = run_jobs(sim, at_once({job, job, job}), first, 3);
    ASSERT_TRUE(run) << run.error().message;
    makespan[loaded] = run->makespan;
  }
  EXPECT_GT(makespan[1], makespan[0] * 11 / 10);
}

TEST(JobSimulator, CountersTellTheTruthThroughNoise) {
  Cluster cluster = small_cluster();
  const auto job = add(cluster, chain({"stream"}));
  const auto counters = usual_counters(cluster.machine());
  JobSimulator sim(cluster, {.counters = counters, .readings = 400, .reading_error = 0.05});
  sim.reset(at_once({job, add(cluster, chain({"compute", "compute"}))}), 1);
  ASSERT_TRUE(sim.step(run_on(0, 0, kCpu)));
  ASSERT_TRUE(sim.step(run_on(1, 0, kCpu)));
  ASSERT_EQ(sim.state().now, Duration(1000));  // both have ended
  const Resource memory = resource_of(cluster.machine().host_memory());
  for (size_t i = 0; i < counters.size(); ++i) {
    const CounterReading& reading = sim.state().readings[i];
    EXPECT_EQ(reading.count, 400);
    const double unit = counters[i].unit == "share" ? 1 : 100e9;
    // 60 of 100 B/ns; cores at 0.3 and 0.8. 400 readings: standard error 0.0025.
    if (counters[i].resource == memory && counters[i].quantity == Quantity::traffic) {
      EXPECT_NEAR(reading.mean / unit, 0.6, 0.0125);
    }
    if (counters[i].resource.kind == Resource::Kind::core) {
      EXPECT_NEAR(reading.mean, counters[i].resource.core == 0 ? 0.3 : 0.8, 0.0125);
    }
  }
  EXPECT_DOUBLE_EQ(sim.utilisation(memory), 0.6);
  EXPECT_DOUBLE_EQ(sim.utilisation(resource_of(kCpu)), 0.55);
}

TEST(JobSimulator, RewardIsMinusTheSlowdownOfOpsInTheSystem) {
  // Two ops whose best is 100 ns (on the GPU). One at a time there: the first is in the system for
  // 100 ns, the second for 200: 1 + 2.
  Cluster cluster = small_cluster();
  const auto job = add(cluster, chain({"compute"}));
  JobSimulator sim(cluster, {});
  sim.reset(at_once({job, job}), 1);
  double sum = 0;
  sum += *sim.step(run_on(0, 0, kGpu));
  EXPECT_EQ(sum, 0);
  sum += *sim.step(Action::nothing());
  EXPECT_NEAR(sum, -2, 1e-12);
  sum += *sim.step(run_on(1, 0, kGpu));
  EXPECT_NEAR(sum, -3, 1e-12);
}

// Symphony prints r = -sum 1 / T over the ops that ended, with T their measured time (here in ms).
// Running the op where it takes ten times as long is then worth more.
TEST(JobSimulator, ThePrintedRewardPrefersTheSlowDevice) {
  Cluster cluster = small_cluster();
  const auto job = add(cluster, chain({"compute"}));
  double printed[2];
  double ours[2];
  for (const DeviceId device : {kCpu, kGpu}) {
    JobSimulator sim(cluster, {});
    sim.reset(at_once({job}), 1);
    ours[device.index] = *sim.step(run_on(0, 0, device));
    ASSERT_TRUE(sim.done());
    const JobRecord& record = sim.jobs()[0];  // a job of one op: its time is the op's
    printed[device.index] = -1e6 / static_cast<double>((record.finish - record.start).count());
  }
  EXPECT_GT(printed[kCpu.index], printed[kGpu.index]);  // the wrong way round
  EXPECT_LT(ours[kCpu.index], ours[kGpu.index]);
}

}  // namespace
}  // namespace tutti
