#include "tutti/plan/check/check.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "tutti/plan/testing.h"

namespace tutti {
namespace {

using namespace testing;

TEST(CheckPlan, FindsNothingWrongWithAGoodPlan) {
  const World world(small_graph(), small_machine());
  EXPECT_EQ(check_plan(world.problem(), small_plan(world.problem())), std::vector<std::string>{});
}

TEST(CheckPlan, AsksForNoTimelineAndNoStrictOrder) {
  const World world(small_graph(), small_machine());
  Plan plan = small_plan(world.problem());
  plan.start.clear();
  plan.finish.clear();
  plan.strict_order.clear();
  EXPECT_EQ(check_plan(world.problem(), plan), std::vector<std::string>{});
}

TEST(CheckPlan, SaysAtMostAsMuchAsItMay) {
  const World world(small_graph(), small_machine());
  Plan plan = small_plan(world.problem());
  for (DeviceId& device : plan.placement) device = DeviceId{};
  EXPECT_EQ(check_plan(world.problem(), plan, 3).size(), 3u);
}

Constraints all_rules() {
  Constraints constraints;
  constraints.pins = {{.op = "e", .devices = {"cpu0", "gpu1"}}};
  constraints.colocations = {{"a", "b"}};
  constraints.memory_limits = {{.memory = "gpu0", .bytes = 250}};
  return constraints;
}

struct Broken {
  const char* claim;
  std::function<void(Plan&)> corrupt;
  const char* sentence;
};

class BrokenPlan : public ::testing::TestWithParam<Broken> {};

TEST_P(BrokenPlan, IsToldInItsOwnSentence) {
  const World world(small_graph(), small_machine(), all_rules());
  Plan plan = small_plan(world.problem());
  ASSERT_EQ(check_plan(world.problem(), plan), std::vector<std::string>{});
  GetParam().corrupt(plan);
  const std::vector<std::string> sentences = check_plan(world.problem(), plan);
  ASSERT_FALSE(sentences.empty());
  EXPECT_NE(std::find(sentences.begin(), sentences.end(), GetParam().sentence), sentences.end())
      << ::testing::PrintToString(sentences);
}

INSTANTIATE_TEST_SUITE_P(
    All, BrokenPlan,
    ::testing::Values(
        Broken{"TooFewDevices", [](Plan& plan) { plan.placement.pop_back(); },
               "the plan has 4 devices and 5 priorities for 5 ops"},
        Broken{"HalfATimeline", [](Plan& plan) { plan.finish.clear(); },
               "the planned timeline has 5 starts and 0 finishes for 5 ops"},
        Broken{"TooManyLists", [](Plan& plan) { plan.strict_order.emplace_back(); },
               "the strict order has 4 lists for 3 devices"},
        Broken{"NoDevice", [](Plan& plan) { plan.placement[kC.index] = DeviceId{}; },
               "op 'c' has no device"},
        Broken{"DeviceOfAnotherMachine", [](Plan& plan) { plan.placement[kC.index] = DeviceId{3}; },
               "op 'c' has no device"},
        Broken{"UnknownOpInOrder", [](Plan& plan) { plan.strict_order[0].push_back(OpId{9}); },
               "the strict order names op 9, but the graph has 5 ops"},
        Broken{"ForbiddenDevice", [](Plan& plan) { plan.placement[kE.index] = kGpu0; },
               "op 'e' is placed on 'gpu0', which its constraints do not allow"},
        Broken{"ColocationBroken", [](Plan& plan) { plan.placement[kB.index] = kGpu1; },
               "ops 'a' and 'b' must share a device but are placed on 'gpu0' and 'gpu1'"},
        Broken{"OrderListsTwice",
               [](Plan& plan) {
                 plan.strict_order[0] = {kA, kB, kA};
               },
               "the strict order lists op 'a' twice"},
        Broken{"OrderForgets", [](Plan& plan) { plan.strict_order[0] = {kA}; },
               "the strict order does not list op 'b'"},
        Broken{"OrderOnAnotherDevice",
               [](Plan& plan) { std::swap(plan.strict_order[1], plan.strict_order[2]); },
               "the strict order of 'gpu1' lists op 'e', which is placed on 'cpu0'"},
        Broken{"OrderAgainstTheGraph",
               [](Plan& plan) {
                 plan.strict_order[0] = {kB, kA};
               },
               "the strict order deadlocks: op 'a' waits for itself or behind ops that do"},
        Broken{"StartsBeforeTheRun", [](Plan& plan) { plan.start[kA.index] = ns(-5); },
               "op 'a' is planned to start at -5 ns, before the run"},
        Broken{"RunTimeWrong", [](Plan& plan) { plan.finish[kE.index] += ns(1); },
               "op 'e' is planned to take 401 ns on 'cpu0', where its run time is 400 ns"},
        Broken{"StartsBeforeItsOperand", [](Plan& plan) { plan.start[kC.index] -= ns(1); },
               "op 'c' is planned to start at 429 ns, but its operand 'a' arrives at 430 ns"},
        Broken{"StartsBeforeAnInput", [](Plan& plan) { plan.start[kA.index] = ns(109); },
               "op 'a' is planned to start at 109 ns, but its operand 'x' arrives at 110 ns"},
        Broken{"MoreOpsThanSlots",
               [](Plan& plan) {
                 plan.start[kB.index] -= ns(10);
                 plan.finish[kB.index] -= ns(10);
               },
               "device 'gpu0' is planned to run more than its 1 ops at once from 200 ns to 210 ns"},
        Broken{"MakespanWrong", [](Plan& plan) { plan.planned_makespan = ns(1000); },
               "the planned makespan is 1000 ns, but the planned timeline ends at 1140 ns"}),
    [](const auto& instance) { return instance.param.claim; });

TEST(CheckPlan, RefusesAPlanOfAnotherGraph) {
  const World world(small_graph(), small_machine());
  const World other(small_graph({.transient_bytes = 1}), small_machine());
  const auto sentences = check_plan(other.problem(), small_plan(world.problem()));
  ASSERT_EQ(sentences.size(), 1u);
  EXPECT_EQ(sentences[0].find("the plan was made for another graph"), 0u) << sentences[0];
}

TEST(CheckPlan, CountsEachWeightOnceBesideTheLargestOp) {
  // On gpu0 op a needs 100 bytes of output and 100 of x beside 50 of weight: 250 fit, 249 do not.
  Constraints constraints;
  constraints.memory_limits = {{.memory = "gpu0", .bytes = 249}};
  const World world(small_graph(), small_machine(), constraints);
  EXPECT_EQ(check_plan(world.problem(), small_plan(world.problem())),
            std::vector<std::string>{"memory 'gpu0' has 249 bytes but must hold 50 of weights and "
                                     "200 for op 'a' at the same time"});
}

TEST(CheckPlan, KnowsWhichDevicesCannotRunAnOp) {
  GraphBuilder builder("cpu only");
  const std::vector<GivenTime> times = {{"cpu", ns(1)}};
  builder.add_op({.name = "a", .kind = "work", .run_times = times});
  const World world(std::move(builder).build().value(), small_machine());
  Plan plan;
  plan.placement = {kGpu0};
  plan.priority = {0};
  EXPECT_EQ(check_plan(world.problem(), plan),
            std::vector<std::string>{"op 'a' is placed on 'gpu0', which cannot run it"});
}

// The GPU holds 250 bytes: two weights of 100, and the 20 that an op reads and makes.
TEST(CheckPlan, CountsKeptWeightsAndTheStreamBuffer) {
  const World world(layer_chain(), layer_machine());
  EXPECT_EQ(check_plan(world.problem(), layer_plan(world.problem(), 1, 1)),
            std::vector<std::string>{});
  EXPECT_EQ(check_plan(world.problem(), layer_plan(world.problem(), 2, 1)),
            std::vector<std::string>{"memory 'gpu' has 250 bytes but must hold 300 of weights and "
                                     "20 for op 'layer0' at the same time"});
  const World just(layer_chain(), layer_machine({.gpu_memory = 220}));
  EXPECT_EQ(check_plan(just.problem(), layer_plan(just.problem(), 1, 1)),
            std::vector<std::string>{});
}

TEST(CheckPlan, AsksForAStreamBufferThatHoldsAnyOp) {
  const World world(layer_chain(), layer_machine());
  Plan plan = layer_plan(world.problem(), 1, 1);
  plan.weights.stream_buffer_bytes[1] = 99;
  const std::vector<std::string> faults = check_plan(world.problem(), plan);
  ASSERT_EQ(faults.size(), 3u);
  EXPECT_EQ(faults[0],
            "the stream buffer of memory 'gpu' has 99 bytes, but op 'layer1' reads 100 bytes of "
            "streamed weights there");
}

TEST(CheckPlan, RefusesAStreamBufferOfMoreBytesThanCanBeCounted) {
  const World world(layer_chain(), layer_machine());
  Plan plan = layer_plan(world.problem(), 1, 1);
  plan.weights.stream_buffer_bytes[1] = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(
      check_plan(world.problem(), plan),
      std::vector<std::string>{"the stream buffer of memory 'gpu' has 9223372036854775807 bytes"});
}

TEST(CheckPlan, KnowsWhichWeightsCanBeKept) {
  const World world(layer_chain(), layer_machine());
  Plan plan = layer_plan(world.problem(), 0, 1);
  plan.weights.kept[1] = {ValueId{0}};
  EXPECT_EQ(check_plan(world.problem(), plan),
            std::vector<std::string>{"memory 'gpu' keeps value 0, which is no weight with a home"});
  plan = layer_plan(world.problem(), 0, 1);
  plan.weights.kept[0] = {world.problem().homed_weights()[2]};
  EXPECT_EQ(check_plan(world.problem(), plan),
            std::vector<std::string>{"memory 'host' keeps weight 'w2', which is at home there"});
}

}  // namespace
}  // namespace tutti
