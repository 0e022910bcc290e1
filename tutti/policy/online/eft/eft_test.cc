#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tutti/base/check.h"
#include "tutti/graph/builder.h"
#include "tutti/plan/world/world_ledger.h"
#include "tutti/policy/online/eft/backlog_eft.h"
#include "tutti/policy/online/eft/dmdas.h"
#include "tutti/policy/online/eft/whole_job.h"

namespace tutti {
namespace {

const DeviceId kCpu{0};
const DeviceId kGpu{1};

// A CPU of two cores, whose memory carries 100 B/ns, and a GPU of one slot on a link of 10 B/ns.
// "compute": 1000 ns on the CPU, 100 on the GPU; "stream": 1000 on the CPU, 60 B/ns of its memory;
// "gpu_only": 100 on the GPU.
Cluster small_cluster() {
  MachineSpec spec;
  spec.name = "small";
  spec.hosts = {{.name = "host"}};
  spec.devices = {
      {.device = {.name = "cpu", .kind = "cpu", .slots = 2, .units = 2, .bytes_per_s = 100e9},
       .uses_host_memory = true},
      {.device = {.name = "gpu", .kind = "gpu"}}};
  spec.links = {{.name = "pcie", .ends = {"host", "gpu"}, .bytes_per_s = 10e9}};
  CostSpec costs;
  const auto time = [&](const char* kind, const char* device, double ns) {
    costs.run_times.push_back({.kind = kind, .device_kind = device, .time_ns_by_size = {{0, ns}}});
  };
  time("compute", "cpu", 1000);
  time("compute", "gpu", 100);
  time("stream", "cpu", 1000);
  time("gpu_only", "gpu", 100);
  costs.demands = {
      {.kind = "stream", .device_kind = "cpu", .share = 0.3, .memory_bytes_per_s = 60e9}};
  Result<Machine> machine = Machine::build(spec);
  TUTTI_CHECK(machine.has_value());
  Result<Cluster> cluster = Cluster::make(std::move(*machine), std::move(costs));
  TUTTI_CHECK(cluster.has_value());
  return std::move(*cluster);
}

// A chain of ops of these kinds; the first reads an input of that many bytes, which is at the host.
Graph chain(const std::vector<std::string>& kinds, int64_t bytes = 0) {
  GraphBuilder builder("chain");
  ValueId last;
  if (bytes > 0)
    last = builder.add_input({.value = {.bytes = bytes}, .residence = {Residence::Where::host}});
  for (size_t i = 0; i < kinds.size(); ++i) {
    const ValueSpec output{.bytes = 0};
    const std::vector<ValueId> operands = last.valid() ? std::vector{last} : std::vector<ValueId>{};
    const OpId op = builder.add_op({.name = "op" + std::to_string(i),
                                    .kind = kinds[i],
                                    .operands = operands,
                                    .outputs = {&output, 1}});
    last = builder.outputs(op).front();
  }
  Result<Graph> graph = std::move(builder).build();
  TUTTI_CHECK(graph.has_value());
  return std::move(*graph);
}

struct Moment {
  Cluster cluster = small_cluster();
  WorldLedger ledger;

  explicit Moment(int depth = 0) : ledger(cluster, {}, depth) {}

  JobStatus& admit(const std::vector<std::string>& kinds, int64_t bytes = 0) {
    auto job = cluster.add_job(chain(kinds, bytes));
    TUTTI_CHECK(job.has_value());
    return ledger.admit(*job);
  }
  void give(const JobStatus& job, DeviceId device) {
    const Action action = Action::execute(job.id, OpId{0}, device);
    TUTTI_CHECK(check_action(state(), action).has_value());
    ledger.execute(action);
  }
  void run(JobStatus& job, DeviceId device) {
    give(job, device);
    ledger.start(job, OpId{0});
  }
  const WorldState& state() const { return ledger.state(); }

  // All that it launches now.
  std::vector<Action> launched_by(Decider& decider) {
    ledger.begin_epoch();
    std::vector<Action> actions;
    while (can_act(state())) {
      const Action action = decider.decide(state());
      TUTTI_CHECK(check_action(state(), action).has_value());
      if (action.kind == Action::Kind::no_op) break;
      ledger.execute(action);
      actions.push_back(action);
    }
    return actions;
  }
};

int count_on(const std::vector<Action>& actions, DeviceId device) {
  int count = 0;
  for (const Action& action : actions) count += action.device == device ? 1 : 0;
  return count;
}

TEST(Crowding, DividesAResourceMaxMinFairly) {
  Moment moment;
  const OpKindId stream = moment.admit({"stream"}).job->kind(OpId{0});
  Crowding crowding;
  crowding.begin(moment.cluster);
  const auto first = moment.cluster.draws(stream, 0);
  const auto second = moment.cluster.draws(stream, 1);
  EXPECT_EQ(crowding.slowdown(first, 0, 1000), 1);
  crowding.add_running(first, 1000);
  EXPECT_EQ(crowding.slowdown_of_running(first), 1);
  // Of the 100 B/ns each gets half, where it wants 60: 1.2 times as long.
  EXPECT_NEAR(crowding.slowdown(second, 0, 1000), 1.2, 1e-9);
  crowding.add_running(second, 1000);
  EXPECT_NEAR(crowding.slowdown_of_running(first), 1.2, 1e-9);
}

TEST(Crowding, CountsNeighboursOnlyForAsLongAsTheyRun) {
  Moment moment;
  const OpKindId stream = moment.admit({"stream"}).job->kind(OpId{0});
  Crowding crowding;
  crowding.begin(moment.cluster);
  crowding.add_running(moment.cluster.draws(stream, 0), 500);
  const auto draws = moment.cluster.draws(stream, 1);
  // For half of its time it meets 60 of 100: 30 on average, which leaves 70, more than its 60.
  EXPECT_EQ(crowding.slowdown(draws, 0, 1000), 1);
  EXPECT_GT(crowding.slowdown(draws, 0, 500), 1.1);
  EXPECT_EQ(crowding.slowdown(draws, 900, 500), 1);
  crowding.clear();
  EXPECT_EQ(crowding.slowdown(draws, 0, 500), 1);
}

TEST(RecentResiduals, LearnByWhatOpsOfADeviceTakeLongerAndForgetIt) {
  Moment moment;
  const OpKindId kind = moment.admit({"compute"}).job->kind(OpId{0});
  for (const auto filter :
       {ResidualSettings::Filter::running_mean, ResidualSettings::Filter::kalman}) {
    RecentResiduals residuals({.filter = filter, .memory = 20});
    residuals.begin(moment.cluster);
    EXPECT_EQ(residuals.factor(kCpu, kind, Duration(0)), 1);
    for (int i = 1; i <= 40; ++i) residuals.learn(kCpu, kind, Duration(100), 2, Duration(100 * i));
    EXPECT_NEAR(residuals.factor(kCpu, kind, Duration(4000)), 2, 0.25);
    EXPECT_EQ(residuals.factor(kGpu, kind, Duration(4000)), 1);
    // A hundred ops' time later, five times its memory.
    EXPECT_NEAR(residuals.factor(kCpu, kind, Duration(14'000)), 1, 0.02);
  }
  RecentResiduals none({});
  none.begin(moment.cluster);
  none.learn(kCpu, kind, Duration(100), 5, Duration(1));
  EXPECT_EQ(none.factor(kCpu, kind, Duration(1)), 1);
}

TEST(RecentResiduals, BelieveARunningMeanOfAKindThatDiffersFromItsDevice) {
  Moment moment;
  const OpKindId compute = moment.admit({"compute"}).job->kind(OpId{0});
  const OpKindId stream = moment.admit({"stream"}).job->kind(OpId{0});
  RecentResiduals residuals({.filter = ResidualSettings::Filter::running_mean, .memory = 1000});
  residuals.begin(moment.cluster);
  for (int i = 1; i <= 100; ++i) {
    residuals.learn(kCpu, compute, Duration(100), 1, Duration(200 * i));
    residuals.learn(kCpu, stream, Duration(100), 3, Duration(200 * i));
  }
  const Duration now(20'000);
  EXPECT_GT(residuals.factor(kCpu, stream, now), 1.5 * residuals.factor(kCpu, compute, now));
}

TEST(Forecast, SeesTheQueueBehindTheRunningOpAndWhatSlowsItDown) {
  Moment moment(/*depth=*/3);
  moment.run(moment.admit({"stream"}), kCpu);
  moment.run(moment.admit({"stream"}), kCpu);
  Forecast forecast;
  Openings openings;
  forecast.begin(moment.cluster);
  forecast.update(moment.state(), openings);
  EXPECT_NEAR(forecast.free_in(0), 1200, 1e-6);  // the memory is shared
  moment.ledger.set_time(Duration(600));
  forecast.update(moment.state(), openings);
  EXPECT_NEAR(forecast.free_in(0), 600, 1e-6);
  moment.give(moment.admit({"stream"}), kCpu);
  forecast.update(moment.state(), openings);
  EXPECT_NEAR(forecast.free_in(1), 600, 1e-6);
  EXPECT_NEAR(forecast.free_in(0), 1600, 1e-6);  // behind the first that ends
}

TEST(Forecast, FetchesTakeLongerOverLinksThatAreBusy) {
  Moment moment;
  JobStatus& first = moment.admit({"gpu_only"}, 10'000);
  JobStatus& second = moment.admit({"gpu_only"}, 10'000);
  Forecast forecast;
  Openings openings;
  forecast.begin(moment.cluster);
  forecast.update(moment.state(), openings);
  EXPECT_NEAR(forecast.fetch_ns(second, OpId{0}, kGpu), 1000, 1e-6);
  moment.give(first, kGpu);  // its operand is on the way
  forecast.update(moment.state(), openings);
  EXPECT_NEAR(forecast.fetch_ns(second, OpId{0}, kGpu), 2000, 1e-6);
  EXPECT_NEAR(forecast.fetch_ns(second, OpId{0}, kCpu), 0, 1e-6);
}

TEST(BacklogEft, WaitsForTheQuickDeviceWhileItsBacklogEndsSooner) {
  // The GPU ends the ninth op at 900 ns, a core of the CPU one at 1000.
  for (const int jobs : {9, 12}) {
    Moment moment;
    for (int i = 0; i < jobs; ++i) moment.admit({"compute"});
    BacklogEft decider({});
    decider.begin(moment.cluster, 1);
    const std::vector<Action> actions = moment.launched_by(decider);
    EXPECT_EQ(count_on(actions, kGpu), 1);
    EXPECT_EQ(count_on(actions, kCpu), jobs == 9 ? 0 : 2);
  }
}

TEST(BacklogEft, FillsTheQueueOfADeviceOnlyWithOpsThatEndFirstThere) {
  Moment moment(/*depth=*/2);
  for (int i = 0; i < 5; ++i) moment.admit({"compute"});
  BacklogEft decider({});
  decider.begin(moment.cluster, 1);
  const std::vector<Action> actions = moment.launched_by(decider);
  EXPECT_EQ(count_on(actions, kGpu), 3);  // one runs, two queue
  EXPECT_EQ(count_on(actions, kCpu), 0);
}

TEST(BacklogEft, TakesTheJobWithTheLeastWorkLeftFirstUnlessToldOtherwise) {
  using Order = BacklogEftSettings::Order;
  for (const Order order : {Order::remaining_work, Order::slowdown, Order::arrival}) {
    Moment moment;
    const JobId large = moment.admit({"gpu_only", "gpu_only", "gpu_only"}).id;
    const JobId small = moment.admit({"gpu_only"}).id;
    BacklogEft decider({.order = order});
    decider.begin(moment.cluster, 1);
    const std::vector<Action> actions = moment.launched_by(decider);
    ASSERT_EQ(actions.size(), 1U);
    EXPECT_EQ(actions[0].job, order == Order::arrival ? large : small);
  }
}

TEST(BacklogEft, AvoidsADeviceOnWhichOpsTakeLongerThanPredicted) {
  for (const bool learns : {false, true}) {
    Moment moment;
    BacklogEftSettings settings;
    settings.residuals.memory = 1000;
    if (learns) settings.residuals.filter = ResidualSettings::Filter::running_mean;
    BacklogEft decider(settings);
    decider.begin(moment.cluster, 1);
    for (int i = 0; i < 12; ++i) {  // each of them thirty times as long
      JobStatus& job = moment.admit({"gpu_only"});
      ASSERT_EQ(moment.launched_by(decider).size(), 1U);
      moment.ledger.start(job, OpId{0});
      moment.ledger.set_time(moment.state().now + Duration(3000));
      moment.ledger.begin_epoch();
      moment.ledger.finish(job, OpId{0});
      moment.admit({"gpu_only"});  // so that there is something to decide
      const Action next = decider.decide(moment.state());
      moment.ledger.remove(job.id);
      ASSERT_EQ(next.device, kGpu);
      moment.ledger.remove(next.job);
    }
    moment.admit({"compute"});
    const std::vector<Action> actions = moment.launched_by(decider);
    ASSERT_EQ(actions.size(), 1U);
    EXPECT_EQ(actions[0].device, learns ? kCpu : kGpu);
  }
}

TEST(BacklogEft, PlansAgainWhenOtherJobsAreShownToIt) {
  Moment moment;
  JobStatus& first = moment.admit({"gpu_only"});
  JobStatus& second = moment.admit({"compute"});
  BacklogEft decider({});
  decider.begin(moment.cluster, 1);
  moment.ledger.begin_epoch();
  moment.ledger.hide(second);
  EXPECT_EQ(decider.decide(moment.state()).job, first.id);
  moment.ledger.show(second);
  moment.ledger.hide(first);
  EXPECT_EQ(decider.decide(moment.state()).job, second.id);
}

TEST(Dmdas, BindsOpsToDevicesWhenTheyBecomeReady) {
  Moment moment;
  for (int i = 0; i < 12; ++i) moment.admit({"compute"});
  Dmdas decider({});
  decider.begin(moment.cluster, 1);
  const std::vector<Action> actions = moment.launched_by(decider);
  EXPECT_EQ(count_on(actions, kGpu), 1);
  EXPECT_GE(count_on(actions, kCpu), 1);
  // The CPU is idle now, but nothing is bound to it.
  for (const Action& action : actions) {
    moment.ledger.start(moment.ledger.job(action.job), action.op);
    if (action.device == kCpu) moment.ledger.finish(moment.ledger.job(action.job), action.op);
  }
  EXPECT_EQ(count_on(moment.launched_by(decider), kCpu), 0);
}

TEST(WholeJob, KeepsAJobOnOneDevice) {
  Moment moment;
  JobStatus& job = moment.admit({"compute", "compute", "stream", "compute"});
  WholeJob decider;
  decider.begin(moment.cluster, 1);
  std::vector<DeviceId> devices;
  for (int i = 0; i < 4; ++i) {
    const std::vector<Action> actions = moment.launched_by(decider);
    ASSERT_EQ(actions.size(), 1U);
    devices.push_back(actions[0].device);
    moment.ledger.start(job, actions[0].op);
    moment.ledger.set_time(moment.state().now + Duration(100));
    moment.ledger.begin_epoch();
    moment.ledger.finish(job, actions[0].op);
  }
  // The GPU cannot run "stream".
  EXPECT_EQ(devices, (std::vector{kGpu, kGpu, kCpu, kGpu}));
}

}  // namespace
}  // namespace tutti
