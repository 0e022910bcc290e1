// Queues of devices and the delay of decisions in the simulator of jobs. A decision takes 30 ns
// unless a test says otherwise; "compute" takes 100 ns on the GPU, which has one slot.

#include <gtest/gtest.h>

#include <thread>

#include "tutti/runtime/sim/jobs/job_simulator.h"
#include "tutti/runtime/sim/jobs/testing.h"

namespace tutti {
namespace {

using testing::add;
using testing::chain;
using testing::FirstLegal;
using testing::small_cluster;

const DeviceId kCpu{0};
const DeviceId kGpu{1};

Action run_on(int job, int op, DeviceId device) {
  return Action::execute(JobId{job}, OpId{op}, device);
}

Cluster gpu_only() {
  CostSpec costs = testing::small_costs();
  std::erase_if(costs.run_times, [](const auto& row) { return row.device_kind != "gpu"; });
  return small_cluster(costs);
}

const OpSpan& span_of(const JobSimulator& sim, int job, int op) {
  for (const OpSpan& span : sim.jobs()[static_cast<size_t>(job)].trace.ops) {
    if (span.op == OpId{op}) return span;
  }
  ADD_FAILURE() << "op " << op << " of job " << job << " did not run";
  return sim.jobs()[static_cast<size_t>(job)].trace.ops.front();
}

TEST(JobQueues, AnOpBehindARunningOneStartsAtItsEnd) {
  Cluster cluster = small_cluster();
  const auto job = add(cluster, chain({"compute"}));
  JobSimulator sim(cluster, {.queue_depth = 1, .record = true});
  sim.reset({{Duration(0), job}, {Duration(0), job}}, 1);
  ASSERT_TRUE(sim.step(run_on(0, 0, kGpu)));
  ASSERT_TRUE(sim.step(run_on(1, 0, kGpu)));
  ASSERT_TRUE(sim.done());
  EXPECT_EQ(span_of(sim, 1, 0).start, Duration(100));
  EXPECT_EQ(span_of(sim, 1, 0).finish, Duration(200));
}

TEST(JobQueues, OfADeviceThatRanEmptyGrowWhileJobsAreInTheSystem) {
  Cluster cluster = gpu_only();
  const auto job = add(cluster, chain({"compute"}));
  JobSimulator sim(cluster, {.queue_depth = 1, .most_queue_depth = 3});
  const auto depth = [&] { return sim.state().devices[static_cast<size_t>(kGpu.index)].depth; };
  // Pairs that find the device empty, and one job alone.
  std::vector<Arrival> arrivals;
  for (const int time : {0, 300, 600}) arrivals.insert(arrivals.end(), 2, {Duration(time), job});
  arrivals.push_back({Duration(900), job});
  sim.reset(arrivals, 1);
  int next = 0;
  for (const int expected : {2, 3, 3}) {
    EXPECT_EQ(depth(), expected);
    ASSERT_TRUE(sim.step(run_on(next++, 0, kGpu)));
    EXPECT_EQ(depth(), expected);  // the second goes behind the first: nothing ran empty
    ASSERT_TRUE(sim.step(run_on(next++, 0, kGpu)));
  }
  EXPECT_EQ(depth(), 1);
  ASSERT_TRUE(sim.step(run_on(next, 0, kGpu)));
  EXPECT_TRUE(sim.done());
}

TEST(JobDispatch, TakesTimeBeforeDecisionsAndBeforeOps) {
  Cluster cluster = gpu_only();
  const auto job = add(cluster, chain({"compute"}));
  JobSimulator sim(cluster, {.queue_depth = 1,
                             .dispatch = {.reaction = Duration(7),
                                          .help = Duration(2),
                                          .start_idle = Duration(20),
                                          .start_behind = Duration(3)},
                             .noise = false,
                             .record = true});
  sim.reset({{Duration(0), job}, {Duration(0), job}}, 1);
  EXPECT_EQ(sim.state().now, Duration(7));
  ASSERT_TRUE(sim.step(run_on(0, 0, kGpu)));
  ASSERT_TRUE(sim.step(run_on(1, 0, kGpu)));
  ASSERT_TRUE(sim.done());
  EXPECT_EQ(span_of(sim, 0, 0).finish, Duration(7 + 20 + 100));
  EXPECT_EQ(span_of(sim, 1, 0).finish, Duration(7 + 20 + 100 + 3 + 100));
  // The judge takes it as noise, and finds all else in order.
  JobsRecord run{.jobs = sim.jobs(), .makespan = sim.jobs()[1].finish};
  EXPECT_EQ(check_jobs(cluster, run, sim.rules()), std::vector<std::string>{});
}

TEST(JobQueues, TakeNoMoreThanTheirDepth) {
  Cluster cluster = small_cluster();
  const auto job = add(cluster, chain({"compute"}));
  JobSimulator sim(cluster, {.queue_depth = 1});
  sim.reset({{Duration(0), job}, {Duration(0), job}, {Duration(0), job}}, 1);
  ASSERT_TRUE(sim.step(run_on(0, 0, kGpu)));
  ASSERT_TRUE(sim.step(run_on(1, 0, kGpu)));
  EXPECT_FALSE(sim.step(run_on(2, 0, kGpu)));
}

TEST(JobQueues, OperandsOfAQueuedOpAreFetchedWhileTheDeviceWorks) {
  // The GPU works from 960 to 1060. At 1000 the second op of the chain can be given to it; 500
  // bytes at 10 B/ns take 50. From the queue it starts at 1060; without one it is given at 1060.
  for (const int depth : {1, 0}) {
    Cluster cluster = small_cluster();
    const auto first = add(cluster, chain({"compute", "compute"}, 500));
    const auto other = add(cluster, chain({"compute"}));
    JobSimulator sim(cluster, {.queue_depth = depth, .record = true});
    sim.reset({{Duration(0), first}, {Duration(960), other}}, 1);
    ASSERT_TRUE(sim.step(run_on(0, 0, kCpu)));
    ASSERT_EQ(sim.state().now, Duration(960));
    ASSERT_TRUE(sim.step(run_on(1, 0, kGpu)));
    ASSERT_EQ(sim.state().now, Duration(1000));
    if (depth == 0) {
      ASSERT_TRUE(sim.step(Action::nothing()));
      ASSERT_EQ(sim.state().now, Duration(1060));
    }
    ASSERT_TRUE(sim.step(run_on(0, 1, kGpu)));
    ASSERT_TRUE(sim.done());
    EXPECT_EQ(span_of(sim, 0, 1).start, Duration(depth == 1 ? 1060 : 1110));
    EXPECT_EQ(sim.jobs()[0].trace.transfers.at(0).start, Duration(depth == 1 ? 1000 : 1060));
  }
}

TEST(JobQueues, AnOpThatHasItsOperandsOvertakesOneThatWaitsForThem) {
  // Both are given to the GPU at 1000, the chain's second op first. Its operand takes 50 or 500 ns;
  // the other job needs none and runs from 1000 to 1100.
  for (const int64_t bytes : {500, 5000}) {
    Cluster cluster = small_cluster();
    const auto first = add(cluster, chain({"compute", "compute"}, bytes));
    const auto other = add(cluster, chain({"compute"}));
    JobSimulator sim(cluster, {.queue_depth = 1, .record = true});
    sim.reset({{Duration(0), first}, {Duration(1000), other}}, 1);
    ASSERT_TRUE(sim.step(run_on(0, 0, kCpu)));
    ASSERT_TRUE(sim.step(run_on(0, 1, kGpu)));
    ASSERT_TRUE(sim.step(run_on(1, 0, kGpu)));
    ASSERT_TRUE(sim.done());
    EXPECT_EQ(span_of(sim, 1, 0).start, Duration(1000));
    EXPECT_EQ(span_of(sim, 0, 1).start, Duration(bytes == 500 ? 1100 : 1500));
  }
}

TEST(DecisionDelay, WithoutAQueueADeviceIsIdleForTheDelayBetweenTwoOps) {
  // Decided at 0, runs from 30 to 130; decided at 130, runs from 160 to 260.
  Cluster cluster = gpu_only();
  const auto job = add(cluster, chain({"compute"}));
  JobSimulator sim(cluster, {.decision_delay = Duration(30), .record = true});
  sim.reset({{Duration(0), job}, {Duration(0), job}}, 1);
  ASSERT_TRUE(sim.step(run_on(0, 0, kGpu)));
  EXPECT_EQ(sim.state().now, Duration(130));
  EXPECT_EQ(sim.state().finished.size(), 1U);
  ASSERT_TRUE(sim.step(run_on(1, 0, kGpu)));
  ASSERT_TRUE(sim.done());
  EXPECT_EQ(span_of(sim, 0, 0).start, Duration(30));
  EXPECT_EQ(span_of(sim, 1, 0).start, Duration(160));
  EXPECT_EQ(sim.jobs()[1].trace.placed.at(0).time, Duration(160));
  EXPECT_EQ(sim.jobs()[1].finish, Duration(260));
}

TEST(DecisionDelay, WithAQueueItIsNotIdle) {
  // The second decision is made from 30 to 60, while the first op runs until 130.
  Cluster cluster = gpu_only();
  const auto job = add(cluster, chain({"compute"}));
  JobSimulator sim(cluster, {.queue_depth = 2, .decision_delay = Duration(30), .record = true});
  sim.reset({{Duration(0), job}, {Duration(0), job}}, 1);
  ASSERT_TRUE(sim.step(run_on(0, 0, kGpu)));
  EXPECT_EQ(sim.state().now, Duration(30));
  ASSERT_TRUE(sim.step(run_on(1, 0, kGpu)));
  ASSERT_TRUE(sim.done());
  EXPECT_EQ(sim.jobs()[1].trace.placed.at(0).time, Duration(60));
  EXPECT_EQ(span_of(sim, 1, 0).start, Duration(130));
  EXPECT_EQ(sim.jobs()[1].finish, Duration(230));
}

TEST(DecisionDelay, DevicesGoOnAndWhatEndsMeanwhileIsSeenNext) {
  // Decisions of 150 ns. The first op runs from 150 to 250, the second decision from 150 to 300.
  Cluster cluster = gpu_only();
  const auto job = add(cluster, chain({"compute"}));
  JobSimulator sim(cluster, {.queue_depth = 1, .decision_delay = Duration(150)});
  sim.reset({{Duration(0), job}, {Duration(0), job}, {Duration(0), job}}, 1);
  ASSERT_TRUE(sim.step(run_on(0, 0, kGpu)));
  ASSERT_TRUE(sim.step(run_on(1, 0, kGpu)));
  EXPECT_EQ(sim.state().now, Duration(300));
  EXPECT_EQ(sim.jobs()[0].finish, Duration(250));
  ASSERT_EQ(sim.state().finished.size(), 1U);
  EXPECT_EQ(sim.state().finished[0].job, JobId{0});
  EXPECT_EQ(sim.jobs()[1].start, Duration(300));
}

TEST(DecisionDelay, AnActionThatIsNoLongerAllowedIsDropped) {
  // "Nothing now" is decided at 150, while the GPU works until 250. At 300 the whole cluster is
  // idle, where it is not allowed: the next decision begins then and takes effect at 450.
  Cluster cluster = small_cluster();
  const auto job = add(cluster, chain({"compute"}));
  JobSimulator sim(cluster, {.decision_delay = Duration(150)});
  sim.reset({{Duration(0), job}, {Duration(0), job}}, 1);
  ASSERT_TRUE(sim.step(run_on(0, 0, kGpu)));
  ASSERT_TRUE(sim.step(Action::nothing()));
  EXPECT_EQ(sim.state().now, Duration(300));
  EXPECT_EQ(sim.dropped(), 1);
  ASSERT_TRUE(sim.step(run_on(1, 0, kGpu)));
  ASSERT_TRUE(sim.done());
  EXPECT_EQ(sim.jobs()[1].finish, Duration(550));
  EXPECT_EQ(sim.decisions(), 3);
}

TEST(DecisionDelay, NothingNowIsReconsideredIfSomethingChangedMeanwhile) {
  // A job comes at 50, within the decision from 30 to 60. The next one finds nothing new and waits
  // for the CPU, which works from 30 to 1030.
  Cluster cluster = small_cluster();
  const auto job = add(cluster, chain({"compute"}));
  JobSimulator sim(cluster, {.decision_delay = Duration(30)});
  sim.reset({{Duration(0), job}, {Duration(0), job}, {Duration(50), job}}, 1);
  ASSERT_TRUE(sim.step(run_on(0, 0, kCpu)));
  ASSERT_TRUE(sim.step(Action::nothing()));
  EXPECT_EQ(sim.state().now, Duration(60));
  EXPECT_EQ(sim.state().in_system.size(), 3U);
  ASSERT_TRUE(sim.step(Action::nothing()));
  EXPECT_EQ(sim.state().now, Duration(1030));
  EXPECT_EQ(sim.dropped(), 0);
}

TEST(DecisionDelay, CountsInTheReward) {
  // One op of 100 ns is in the system for 130.
  Cluster cluster = gpu_only();
  JobSimulator sim(cluster, {.decision_delay = Duration(30)});
  sim.reset({{Duration(0), add(cluster, chain({"compute"}))}}, 1);
  EXPECT_NEAR(*sim.step(run_on(0, 0, kGpu)), -1.3, 1e-12);
}

TEST(DecisionDelay, SameSeedAndDelayGiveTheSameRun) {
  CostSpec costs = testing::small_costs();
  costs.run_time_noise = {NoiseSpec::Model::log_normal, 0.2};
  Cluster cluster = small_cluster(costs);
  const auto job = add(cluster, chain({"compute", "stream", "match"}, 200));
  std::vector<Arrival> arrivals;
  for (int i = 0; i < 40; ++i) arrivals.push_back({Duration(200 * i), job});
  JobSimulator sim(
      cluster, {.queue_depth = 2,
                .decision_delay = Duration(70),
                .unknown_load = {.share = 0.5, .mean_on = Duration(700), .mean_off = Duration(700)},
                .counters = usual_counters(cluster.machine()),
                .record = true});
  FirstLegal first;
  std::vector<std::string> traces[3];
  for (int i = 0; i < 3; ++i) {
    const auto run = run_jobs(sim, arrivals, first, i < 2 ? 7 : 8);
    ASSERT_TRUE(run) << run.error().message;
    for (const JobRecord& record : run->jobs) {
      for (const OpSpan& span : record.trace.ops)
        traces[i].push_back(to_text(span.start) + to_text(span.finish));
    }
  }
  EXPECT_EQ(traces[0], traces[1]);
  EXPECT_NE(traces[0], traces[2]);
}

class SlowDecider final : public Decider {
 public:
  void begin(const Cluster&, uint64_t) override {}
  Action decide(const WorldState&) override {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return run_on(0, 0, kGpu);
  }
};

TEST(DecisionDelay, MayBeMeasured) {
  Cluster cluster = small_cluster();
  JobSimulator sim(cluster, {.decision_delay = Duration(30), .measured_delay = true});
  SlowDecider slow;
  const auto run = run_jobs(sim, {{Duration(0), add(cluster, chain({"compute"}))}}, slow, 1);
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_GE(run->jobs[0].start, Duration(2'000'030));
}

}  // namespace
}  // namespace tutti
