#include "tutti/plan/world/select_place.h"

#include <gtest/gtest.h>

#include "tutti/plan/testing.h"
#include "tutti/plan/world/job_view.h"
#include "tutti/plan/world/world_ledger.h"

namespace tutti {
namespace {

using testing::kA;
using testing::kB;
using testing::kC;
using testing::kCpu0;
using testing::kGpu0;
using testing::kGpu1;
using testing::ns;

class LastReady : public Select {
 public:
  std::optional<OpId> select(const State& state) override { return state.ready().back(); }
};

class NothingNow : public Select {
 public:
  std::optional<OpId> select(const State& /*state*/) override { return std::nullopt; }
};

class LastDevice : public Place {
 public:
  DeviceId place(const State& state, OpId op) override { return state.devices_for(op).back(); }
};

Policy last_of_all(const Problem& /*problem*/, uint64_t /*seed*/) {
  return {std::make_unique<LastReady>(), std::make_unique<LastDevice>()};
}

Cluster cluster_of(MachineSpec spec, CostSpec costs = {}) {
  return Cluster::make(Machine::build(std::move(spec)).value(), std::move(costs)).value();
}

// The cluster of tutti/plan/testing.h with jobs of its graph.
struct JobsWorld {
  explicit JobsWorld(int jobs, MachineSpec spec = testing::small_machine())
      : cluster(cluster_of(std::move(spec))), ledger(cluster) {
    for (int i = 0; i < jobs; ++i) ledger.admit(cluster.add_job(testing::small_graph()).value());
  }
  const WorldState& state() const { return ledger.state(); }
  JobView view(int32_t job) const { return {state(), state().job(JobId{job})}; }
  void run(int32_t job, OpId op, DeviceId device) {
    ledger.execute(Action::execute(JobId{job}, op, device));
    ledger.start(ledger.job(JobId{job}), op);
    ledger.finish(ledger.job(JobId{job}), op);
  }

  Cluster cluster;
  WorldLedger ledger;
};

// a b c, independent of each other, 10 ns each on the device kinds that costs give them.
Graph three_ops(const std::string& group = "") {
  GraphBuilder builder("three");
  for (const char* name : {"a", "b", "c"}) {
    const std::vector<ValueSpec> output = {{.bytes = 100}};
    const std::vector<std::pair<std::string, std::string>> attributes = {{"colocate", group}};
    OpSpec op{.name = name, .kind = name, .outputs = output};
    if (!group.empty()) op.attributes = attributes;
    builder.add_op(op);
  }
  return std::move(builder).build().value();
}

CostSpec costs_on(const std::string& device_kind) {
  CostSpec costs;
  for (const char* kind : {"a", "b", "c"})
    costs.run_times.push_back(
        {.kind = kind, .device_kind = device_kind, .time_ns_by_size = {{0, 10}}});
  return costs;
}

TEST(JobView, ShowsAJobAsAStateOfARun) {
  JobsWorld world(1);
  world.run(0, kA, kGpu0);
  world.ledger.set_time(ns(7));
  world.ledger.execute(Action::execute(JobId{0}, kB, kGpu0));
  world.ledger.start(world.ledger.job(JobId{0}), kB);
  const JobView view = world.view(0);
  EXPECT_EQ(&view.problem(), &world.state().job(JobId{0}).job->problem());
  EXPECT_EQ(view.now(), ns(7));
  EXPECT_EQ(std::vector(view.ready().begin(), view.ready().end()), std::vector{kC});
  EXPECT_EQ(view.placement(kA), kGpu0);
  EXPECT_FALSE(view.placement(kC).valid());
  EXPECT_EQ(view.finish(kB), ns(107));
  EXPECT_EQ(view.free_at(kGpu0), ns(107));
  EXPECT_EQ(view.free_at(kGpu1), ns(7));
  EXPECT_EQ(view.memory_left(kGpu1), kUnlimitedBytes);
  // From a on gpu0, over two hops of 110 ns.
  EXPECT_EQ(view.arrival(kC, kGpu1), ns(220));
  // gpu0 has no room.
  const auto devices = view.devices_for(kC);
  EXPECT_EQ(std::vector(devices.begin(), devices.end()), (std::vector{kGpu1, kCpu0}));
}

TEST(JobView, HidesReadyOpsThatNoDeviceHasRoomFor) {
  JobsWorld world(5);
  world.ledger.execute(Action::execute(JobId{0}, kA, kGpu0));
  world.ledger.execute(Action::execute(JobId{1}, kA, kGpu1));
  world.ledger.execute(Action::execute(JobId{2}, kA, kCpu0));
  EXPECT_EQ(world.view(3).ready().size(), 1U);
  world.ledger.execute(Action::execute(JobId{3}, kA, kCpu0));
  EXPECT_TRUE(world.view(4).ready().empty());
  world.ledger.set_depth(kGpu1, 1);
  ASSERT_EQ(world.view(4).ready().size(), 1U);
  EXPECT_EQ(world.view(4).devices_for(kA).front(), kGpu1);
}

TEST(JobView, KeepsColocatedOpsTogether) {
  Cluster cluster = cluster_of(testing::small_machine(), costs_on("gpu"));
  WorldLedger ledger(cluster);
  const JobStatus& job = ledger.admit(cluster.add_job(three_ops("together")).value());
  EXPECT_EQ(JobView(ledger.state(), job).devices_for(kA).size(), 2U);
  ledger.execute(Action::execute(job.id, kA, kGpu1));
  EXPECT_TRUE(JobView(ledger.state(), job).ready().empty());  // gpu1 is busy
  ledger.set_depth(kGpu1, 2);
  const JobView view(ledger.state(), job);
  EXPECT_EQ(view.ready().size(), 2U);
  const auto devices = view.devices_for(kC);
  EXPECT_EQ(std::vector(devices.begin(), devices.end()), std::vector{kGpu1});
}

TEST(JobView, LeavesOutDevicesThatCouldNeverHoldTheOp) {
  MachineSpec spec = testing::small_machine();
  spec.devices[0].memory_bytes = 99;
  JobsWorld world(1, spec);
  EXPECT_EQ(world.view(0).devices_for(kA).front(), kGpu1);
}

TEST(SelectPlace, ExecutesWhatThePairAnswersJobsInTheOrderOfArrival) {
  JobsWorld world(2);
  world.run(0, kA, kGpu0);
  SelectPlace decider(last_of_all);
  decider.begin(world.cluster, 1);
  std::vector<Action> actions;
  while (can_act(world.state())) {
    actions.push_back(decider.decide(world.state()));
    ASSERT_TRUE(check_action(world.state(), actions.back()));
    world.ledger.execute(actions.back());
  }
  const std::vector<Action> expected = {Action::execute(JobId{0}, kC, kCpu0),
                                        Action::execute(JobId{0}, kB, kCpu0),
                                        Action::execute(JobId{1}, kA, kGpu1)};
  EXPECT_EQ(actions, expected);
}

TEST(SelectPlace, GivesEachJobAPairOfItsOwnAndForgetsThoseOfAnEarlierRun) {
  std::vector<uint64_t> seeds;
  SelectPlace decider([&](const Problem& problem, uint64_t seed) {
    seeds.push_back(seed);
    return last_of_all(problem, seed);
  });
  for (int run = 0; run < 2; ++run) {
    JobsWorld world(2);
    decider.begin(world.cluster, 5);
    for (int i = 0; i < 2; ++i) world.ledger.execute(decider.decide(world.state()));
  }
  EXPECT_EQ(seeds, (std::vector<uint64_t>{5, 6, 5, 6}));
}

TEST(SelectPlace, WaitsIfSelectSaysNothingNowUnlessTheWholeClusterIsIdle) {
  JobsWorld world(2);
  SelectPlace decider([](const Problem&, uint64_t) {
    return Policy{std::make_unique<NothingNow>(), std::make_unique<LastDevice>()};
  });
  decider.begin(world.cluster, 1);
  const Action first = decider.decide(world.state());
  EXPECT_EQ(first, Action::execute(JobId{0}, kA, kGpu0));
  world.ledger.execute(first);
  EXPECT_EQ(decider.decide(world.state()), Action::nothing());
}

TEST(SelectPlace, ConfiguresOneContextForAnOpThatNothingElseCanRun) {
  MachineSpec spec = testing::small_machine();
  spec.devices[1].device = {
      .name = "fpga", .kind = "fpga", .slots = 2, .contexts = 2, .reconfiguration_time = ns(500)};
  spec.links[1].ends[1] = "fpga";
  Cluster cluster = cluster_of(spec, costs_on("fpga"));
  WorldLedger ledger(cluster);
  const JobStatus& job = ledger.admit(cluster.add_job(three_ops()).value());
  SelectPlace decider(last_of_all);
  decider.begin(cluster, 1);
  const DeviceId fpga{1};
  for (int context = 0; context < 2; ++context) {
    const Action action = decider.decide(ledger.state());
    EXPECT_EQ(action, Action::reconfigure(fpga, context, job.job->kind(OpId{context})));
    ledger.configure(action);
  }
  ledger.configured(cluster.first_slot(fpga));
  EXPECT_EQ(decider.decide(ledger.state()), Action::execute(job.id, kA, fpga));
}

}  // namespace
}  // namespace tutti
