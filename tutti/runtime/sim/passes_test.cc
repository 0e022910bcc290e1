// Repeated passes: small cases worked out by hand. Random ones: random_runs_test.cc.

#include "tutti/runtime/sim/passes.h"

#include <gtest/gtest.h>

#include "tutti/graph/builder.h"
#include "tutti/plan/testing.h"
#include "tutti/runtime/sim/replay.h"

namespace tutti {
namespace {

using testing::ns;

// op0 -> op1 -> ..., each with its run time on a device of its own. Values have no bytes.
testing::World stages(const std::vector<int64_t>& times) {
  GraphBuilder builder("stages");
  MachineSpec spec;
  spec.hosts = {{.name = "host"}};
  std::vector<ValueId> operands;
  for (size_t i = 0; i < times.size(); ++i) {
    const std::string name = "op" + std::to_string(i);
    const std::vector<GivenTime> run_time = {{"", ns(times[i])}};
    const std::vector<ValueSpec> output = {{.bytes = 0}};
    const OpId op = builder.add_op({.name = name,
                                    .kind = "k",
                                    .operands = operands,
                                    .outputs = output,
                                    .run_times = run_time});
    operands = {builder.outputs(op).front()};
    MachineSpec::DeviceSpec device;
    device.device.name = "d" + std::to_string(i);
    device.device.kind = "d";
    device.uses_host_memory = true;
    spec.devices.push_back(device);
  }
  return {std::move(builder).build().value(), spec};
}

Plan one_per_device(const Problem& problem) {
  Plan plan;
  for (int32_t i = 0; i < problem.graph.size(); ++i) {
    plan.placement.push_back(DeviceId{i % problem.machine.size()});
    plan.priority.push_back(i);
  }
  return plan;
}

Duration per_pass(const Problem& problem, const Plan& plan, int in_flight) {
  Passes passes = Passes::make(problem, in_flight).value();
  const Result<Duration> time = passes.time_per_pass(plan);
  if (!time) ADD_FAILURE() << time.error().message;
  return time ? *time : kNever;
}

TEST(Passes, FollowOneAnotherInAPipeline) {
  // Stages of 3 and 5 ns: 8 ns one at a time; with two in flight the second stage is never idle.
  const auto world = stages({3, 5});
  const Plan plan = one_per_device(world.problem());
  EXPECT_EQ(per_pass(world.problem(), plan, 1), ns(8));
  EXPECT_EQ(per_pass(world.problem(), plan, 2), ns(5));
  EXPECT_EQ(per_pass(world.problem(), plan, 9), ns(5));
}

TEST(Passes, AreNoMoreInFlightThanAsked) {
  // Four stages of 10 ns: K passes fill K of them.
  const auto world = stages({10, 10, 10, 10});
  const Plan plan = one_per_device(world.problem());
  EXPECT_EQ(per_pass(world.problem(), plan, 1), ns(40));
  EXPECT_EQ(per_pass(world.problem(), plan, 2), ns(20));
  EXPECT_EQ(per_pass(world.problem(), plan, 3), ns(14));  // 13.3 rounded up
  EXPECT_EQ(per_pass(world.problem(), plan, 4), ns(10));
  EXPECT_EQ(per_pass(world.problem(), plan, 8), ns(10));
}

TEST(Passes, LetTheEarlierPassGoFirst) {
  // 4 ns on d0, 6 on d1, and 4 on d0 again: d0 has 8 ns of work per pass, and reaches that with
  // three in flight. Two take turns: 14 ns of latency for two.
  auto world = stages({4, 6, 4});
  Plan plan = one_per_device(world.problem());
  plan.placement[2] = DeviceId{0};
  EXPECT_EQ(per_pass(world.problem(), plan, 3), ns(8));
  EXPECT_EQ(per_pass(world.problem(), plan, 1), ns(14));
}

TEST(Passes, HoldTheirValuesTogetherAndWeightsOnce) {
  // A layer's value of 10 bytes lives until the next layer has read it; four weights of 20 bytes
  // are in memory once: 80 bytes for weights, 20 for one pass (a value and the one before it).
  testing::LayerChain options{.weight_bytes = 20, .gpu_memory = 135};
  const testing::World world(testing::layer_chain(options), testing::layer_machine(options));
  const Plan plan = testing::layer_plan(world.problem(), 4, 0);
  EXPECT_EQ(per_pass(world.problem(), plan, 1), ns(80));
  EXPECT_EQ(per_pass(world.problem(), plan, 2), ns(80));
  // Inputs are in every memory when their pass begins: six of them are 60 bytes.
  Passes many = Passes::make(world.problem(), 6).value();
  const Result<Duration> time = many.time_per_pass(plan);
  ASSERT_FALSE(time);
  EXPECT_EQ(time.error().kind, Error::Kind::infeasible);
}

TEST(Passes, StreamWeightsOfTheNextPassBeforeThisOneEnds) {
  // Weights take 100 ns to send and layers 20 ns to run. A run alone ends 20 ns after its last
  // stream; in the steady state the link never waits, even one pass at a time.
  const testing::World world(testing::layer_chain(), testing::layer_machine());
  const Plan plan = testing::layer_plan(world.problem(), 0, 2);
  EXPECT_EQ(per_pass(world.problem(), plan, 1), ns(4 * 100));
  EXPECT_EQ(per_pass(world.problem(), plan, 2), ns(4 * 100));
  // With room for one weight, streams and layers take turns.
  EXPECT_EQ(per_pass(world.problem(), testing::layer_plan(world.problem(), 0, 1), 2), ns(4 * 120));
}

TEST(Passes, SendTheirInputsWhenTheyBegin) {
  // 1000 bytes from the host take 1000 ns, the op 10 ns: the link is the bottleneck of two passes.
  GraphBuilder builder("input");
  const std::vector<ValueId> operands = {builder.add_input(
      {.value = {.name = "x", .bytes = 1000}, .residence = {.where = Residence::Where::host}})};
  const std::vector<GivenTime> run_time = {{"", ns(10)}};
  builder.add_op({.name = "op", .kind = "k", .operands = operands, .run_times = run_time});
  const testing::World world(std::move(builder).build().value(),
                             testing::layer_machine({.gpu_memory = 10'000}));
  Plan plan;
  plan.placement = {testing::kGpu};
  plan.priority = {0};
  EXPECT_EQ(per_pass(world.problem(), plan, 1), ns(1010));
  EXPECT_EQ(per_pass(world.problem(), plan, 2), ns(1000));
}

TEST(Passes, AreRefusedIfTheyAreTooManyForTheGraph) {
  const auto world = stages({1, 1});
  for (const int in_flight : {0, kMostPasses + 1}) {
    const Result<Passes> passes = Passes::make(world.problem(), in_flight);
    ASSERT_FALSE(passes);
    EXPECT_EQ(passes.error().kind, Error::Kind::invalid_input);
    EXPECT_NE(passes.error().message.find("--passes"), std::string::npos);
  }
}

TEST(Passes, AreJudgedByASimulatedRun) {
  const auto world = stages({3, 5});
  Plan plan = one_per_device(world.problem());
  plan.passes = {.in_flight = 2, .time_per_pass = ns(5)};
  EXPECT_TRUE(replay_plan(world.problem(), plan).good());
  plan.passes->time_per_pass = ns(4);
  const Judgement judgement = replay_plan(world.problem(), plan);
  ASSERT_EQ(judgement.faults.size(), 1U);
  EXPECT_EQ(judgement.faults[0].rule, "steady state");
  EXPECT_NE(judgement.faults[0].sentence.find("takes 4 ns with 2 passes in flight, and a simulated "
                                              "one takes 5 ns"),
            std::string::npos)
      << judgement.faults[0].sentence;
}

}  // namespace
}  // namespace tutti
