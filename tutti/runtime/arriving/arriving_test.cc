// Jobs that arrive on real CPUs of this host, decided by deciders made for the test.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>

#include "test/support/world.h"
#include "tutti/graph/make/chainmm.h"
#include "tutti/runtime/arriving/hidden_load.h"
#include "tutti/runtime/arriving/real_cluster.h"
#include "tutti/runtime/local/testing.h"
#include "tutti/telemetry/simulated.h"

namespace tutti {
namespace {

// Takes the first action there is, and remembers what it saw.
class FirstAction : public Decider {
 public:
  void begin(const Cluster& /*cluster*/, uint64_t /*seed*/) override {}
  Action decide(const WorldState& state) override {
    for (const JobId id : state.in_system) {
      EXPECT_LE(state.job(id).arrival, state.now);
    }
    most_busy = std::max(most_busy, state.busy_slots);
    finished += static_cast<int>(state.epoch == epoch_ ? 0 : state.finished.size());
    epoch_ = state.epoch;
    readings = state.readings;
    std::vector<Action> actions;
    legal_actions(state, actions);
    return actions[next(actions)];
  }
  virtual size_t next(const std::vector<Action>& /*actions*/) { return 0; }

  int32_t most_busy = 0;
  int finished = 0;
  std::vector<CounterReading> readings;

 private:
  int64_t epoch_ = -1;
};

// Does nothing wherever that is allowed: one op at a time in the whole cluster.
class Lazy final : public FirstAction {
 public:
  size_t next(const std::vector<Action>& actions) override {
    return actions.back().kind == Action::Kind::no_op ? actions.size() - 1 : 0;
  }
};

// Wants an op that is not there.
class Confused final : public FirstAction {
 public:
  Action decide(const WorldState& state) override {
    return state.now > std::chrono::milliseconds(2)
               ? Action::execute(state.in_system[0], OpId{0}, DeviceId{7})
               : FirstAction::decide(state);
  }
};

Graph real_job(int size) {
  return must(make_chainmm({.size = size, .split = {2, 2, 2}, .devices = 2})).graph;
}

struct RealWorld {
  Cluster cluster;
  std::vector<std::shared_ptr<const Job>> jobs;

  explicit RealWorld(Machine machine) : cluster(must(Cluster::make(std::move(machine), {}))) {
    for (const int size : {32, 48}) jobs.push_back(must(cluster.add_job(real_job(size))));
  }
  std::vector<Arrival> every(Duration interval, int count) const {
    std::vector<Arrival> arrivals;
    for (int i = 0; i < count; ++i)
      arrivals.push_back({interval * i, jobs[static_cast<size_t>(i) % jobs.size()]});
    return arrivals;
  }
};

void expect_whole(const JobsRecord& run, const std::vector<Arrival>& arrivals) {
  ASSERT_EQ(run.jobs.size(), arrivals.size());
  for (size_t i = 0; i < arrivals.size(); ++i) {
    const JobRecord& job = run.jobs[i];
    EXPECT_EQ(job.arrival, arrivals[i].time);
    EXPECT_GE(job.start, job.arrival);
    EXPECT_GT(job.finish, job.start);
    EXPECT_LE(job.finish, run.makespan);
    ASSERT_EQ(static_cast<int32_t>(job.trace.ops.size()), job.job->graph().size());
    for (const OpSpan& span : job.trace.ops) {
      EXPECT_GE(span.start, job.arrival) << "an op ran before its job came";
      EXPECT_LE(span.finish, job.finish);
    }
  }
  EXPECT_LT(run.reward, 0);
}

class Arriving : public ::testing::TestWithParam<bool> {};

// With one memory, and with one for each device, between which values travel; there inputs are kept
// from run to run.
TEST_P(Arriving, EveryJobEndsWithTheNumbersOfTheReferenceAndNoneBeginsBeforeItComes) {
  const RealWorld world(GetParam() ? testing::islands(2, 1) : testing::cpus(2, 1));
  int ended = 0;
  RealClusterOptions options{.keep_inputs = GetParam()};
  options.ended = [&](const JobRecord& job) {
    ++ended;
    EXPECT_GT(job.finish, job.arrival);
  };
  const auto real = must(RealCluster::open(world.cluster, OpTable::standard(), options));
  const std::vector<Arrival> arrivals = world.every(std::chrono::milliseconds(2), 12);
  ASSERT_TRUE(real->load(arrivals));
  for (int repeat = 0; repeat < 2; ++repeat) {
    FirstAction decider;
    const Result<RealJobsRun> run = real->run(decider, 1);
    ASSERT_TRUE(run) << run.error().message;
    expect_whole(run->run, arrivals);
    EXPECT_EQ(ended, 12 * (repeat + 1));
    EXPECT_LE(decider.most_busy, 2);
    EXPECT_GT(decider.finished, 0);
    EXPECT_EQ(static_cast<int64_t>(run->decision_times.size()), run->run.decisions);
    const Result<Verified> verified = real->verify_last();
    ASSERT_TRUE(verified) << verified.error().message;
    EXPECT_TRUE(verified->good) << verified->worst_value;
    EXPECT_GT(verified->values, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Memories, Arriving, ::testing::Bool());

TEST(ArrivingJobs, WhoDoesNothingWhereHeMayIsAskedAgain) {
  const RealWorld world(testing::cpus(2, 1));
  const auto real = must(RealCluster::open(world.cluster, OpTable::standard(), {}));
  const std::vector<Arrival> arrivals = world.every(Duration(0), 3);
  ASSERT_TRUE(real->load(arrivals));
  Lazy decider;
  const Result<RealJobsRun> run = real->run(decider, 1);
  ASSERT_TRUE(run) << run.error().message;
  expect_whole(run->run, arrivals);
  EXPECT_LE(decider.most_busy, 1);
}

TEST(ArrivingJobs, AnActionThatIsNotAllowedEndsTheRunWithASentence) {
  const RealWorld world(testing::cpus(2, 1));
  const auto real = must(RealCluster::open(world.cluster, OpTable::standard(), {}));
  const std::vector<Arrival> arrivals = world.every(std::chrono::milliseconds(2), 12);
  ASSERT_TRUE(real->load(arrivals));
  Confused confused;
  const Result<RealJobsRun> bad = real->run(confused, 1);
  ASSERT_FALSE(bad);
  EXPECT_NE(bad.error().message.find("device"), std::string::npos) << bad.error().message;
  FirstAction decider;  // the next run is as if nothing had been
  const Result<RealJobsRun> run = real->run(decider, 1);
  ASSERT_TRUE(run) << run.error().message;
  expect_whole(run->run, arrivals);
}

TEST(ArrivingJobs, CancellingEndsTheRunEvenWhileItWaitsForAJob) {
  const RealWorld world(testing::cpus(2, 1));
  std::atomic<bool> flag{false};
  RealClusterOptions options{.stop = Stop(&flag)};
  options.progress = [&](int64_t ended, int64_t /*ops*/) { flag = flag || ended > 0; };
  const auto real = must(RealCluster::open(world.cluster, OpTable::standard(), options));
  ASSERT_TRUE(real->load(world.every(std::chrono::hours(1), 2)));
  FirstAction decider;
  const Result<RealJobsRun> run = real->run(decider, 1);
  ASSERT_FALSE(run);
  EXPECT_TRUE(run.error().message.starts_with("cancelled after ")) << run.error().message;
}

TEST(ArrivingJobs, AKernelThatFailsEndsTheRunWithASentence) {
  const RealWorld world(testing::cpus(2, 1));
  OpTable table;
  std::atomic<int> calls{0};
  for (const std::string& kind : world.jobs[0]->graph().op_kinds()) {
    table.add(kind, "cpu", [&calls](const OpCall& /*call*/) -> Result<void> {
      if (++calls == 9) return failed("the ninth call fails");
      return {};
    });
  }
  const auto real = must(RealCluster::open(world.cluster, std::move(table), {}));
  const std::vector<Arrival> arrivals = world.every(std::chrono::milliseconds(1), 6);
  ASSERT_TRUE(real->load(arrivals));
  FirstAction decider;
  const Result<RealJobsRun> bad = real->run(decider, 1);
  ASSERT_FALSE(bad);
  EXPECT_NE(bad.error().message.find("the ninth call fails"), std::string::npos);
  const Result<RealJobsRun> run = real->run(decider, 1);
  ASSERT_TRUE(run) << run.error().message;
  expect_whole(run->run, arrivals);
}

TEST(ArrivingJobs, WhatCannotBeRunForRealIsRefused) {
  MachineSpec spec{.name = "m", .hosts = {{.name = "host"}}};
  spec.devices = {
      {.device = {.name = "cpu", .kind = "cpu", .flops_per_s = 1e9}, .uses_host_memory = true},
      {.device = {.name = "fpga", .kind = "fpga", .contexts = 1}}};
  spec.links = {{.name = "l", .ends = {"fpga", "host"}, .bytes_per_s = 1e9}};
  const Cluster cluster = must(Cluster::make(must(Machine::build(spec)), {}));
  const auto real =
      RealCluster::open(cluster, OpTable::standard(), {},
                        std::make_unique<CpuHardware>(cluster.machine(), std::vector<int>{0}));
  ASSERT_FALSE(real);
  EXPECT_EQ(real.error().message.substr(0, 38), "device 'fpga' has contexts to configur");
}

TEST(ArrivingJobs, CountersReachTheDeciderAndThoseThatNobodyReadsAreUnknown) {
  const RealWorld world(testing::cpus(1, 1));
  const Resource core = core_of(DeviceId{0}, 0);
  const std::vector<Counter> counters = {
      {"link", "B/s", resource_of(DeviceId{0}), Quantity::traffic},
      {"core", "share", core, Quantity::busy}};
  auto source = std::make_unique<SimulatedSource>(
      std::vector<Counter>{{"other", "share", core, Quantity::other}, counters[1]});
  source->push({1, 0.25});
  std::vector<std::unique_ptr<CounterSource>> sources;
  sources.push_back(std::move(source));
  const CounterFeed feed(std::move(sources), {.interval = Duration(100'000)});
  while (feed.reads() < 8) std::this_thread::yield();
  RealClusterOptions options{.counters = counters, .feed = &feed};
  const auto real = must(RealCluster::open(world.cluster, OpTable::standard(), options));
  ASSERT_TRUE(real->load(world.every(Duration(0), 1)));
  FirstAction decider;
  ASSERT_TRUE(real->run(decider, 1));
  ASSERT_EQ(decider.readings.size(), 2U);
  EXPECT_EQ(decider.readings[0].count, 0);
  EXPECT_EQ(decider.readings[1].count, 8);
  EXPECT_EQ(decider.readings[1].mean, 0.25);
}

TEST(HiddenLoad, WorksOnItsCoresAndGoesWhenItIsTold) {
  for (const HiddenLoadSpec::Work work :
       {HiddenLoadSpec::Work::memory, HiddenLoadSpec::Work::compute}) {
    const HiddenLoad hidden_load({.work = work,
                                  .share = 0.5,
                                  .spread = 1,
                                  .cores = cores_of_this_process(),
                                  .mean_on = std::chrono::hours(1),
                                  .mean_off = Duration(1)},
                                 1);
    while (hidden_load.worked() < std::chrono::milliseconds(2)) std::this_thread::yield();
    EXPECT_GT(hidden_load.sum(), 0);
  }
  const HiddenLoad none({.share = 0, .cores = {0}}, 1);
  EXPECT_EQ(none.worked(), Duration(0));
}

}  // namespace
}  // namespace tutti
