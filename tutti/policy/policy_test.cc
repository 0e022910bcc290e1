// What each reference policy is good at. That all obey the rules is the conformance suite's
// business.

#include <gtest/gtest.h>

#include "test/support/world.h"
#include "tutti/graph/make/layered.h"
#include "tutti/plan/draft.h"
#include "tutti/policy/registry.h"
#include "tutti/policy/schedule/ranks.h"
#include "tutti/policy/schedule/timeline.h"

namespace tutti {
namespace {

Result<Plan> plan_with(const char* name, const Problem& problem, uint64_t seed = 1) {
  return make_plan(**find_policy(name), problem, {}, seed);
}

// a feeds b and c, both feed d; times in ns, transfers of 10 ns.
World diamond(const char* preset = "uniform-2") {
  return World(graph_from(R"("ops":[
      {"name":"a","kind":"k","run_time_ns":10},
      {"name":"b","kind":"k","run_time_ns":50,"operands":["a"],"transfer_time_ns":[10]},
      {"name":"c","kind":"k","run_time_ns":30,"operands":["a"],"transfer_time_ns":[10]},
      {"name":"d","kind":"k","run_time_ns":10,"operands":["b","c"],"transfer_time_ns":[10,10]}])"),
               preset);
}

TEST(Timeline, FillsTheFirstGapThatIsLongEnough) {
  Timeline timeline;
  timeline.add(Duration(10), Duration(5));   // [10, 15)
  timeline.add(Duration(30), Duration(10));  // [30, 40)
  EXPECT_EQ(timeline.earliest_start(Duration(0), Duration(10)), Duration(0));
  EXPECT_EQ(timeline.earliest_start(Duration(0), Duration(12)), Duration(15));
  EXPECT_EQ(timeline.earliest_start(Duration(20), Duration(12)), Duration(40));
  timeline.add(Duration(15), Duration(12));  // [15, 27) leaves [27, 30)
  EXPECT_EQ(timeline.earliest_start(Duration(11), Duration(3)), Duration(27));
  EXPECT_EQ(timeline.end(), Duration(40));
}

TEST(Timeline, AgreesWithAPlainSearchOverRandomInsertions) {
  Rng rng(3);
  Timeline timeline;
  std::vector<std::pair<int64_t, int64_t>> busy;  // by start
  for (int i = 0; i < 2000; ++i) {
    const auto ready = static_cast<int64_t>(rng.below(40000));
    const auto length = static_cast<int64_t>(1 + rng.below(30));
    int64_t expected = ready;
    for (const auto& [start, finish] : busy) {
      if (finish <= expected) continue;
      if (start >= expected + length) break;
      expected = finish;
    }
    const Duration found = timeline.earliest_start(Duration(ready), Duration(length));
    ASSERT_EQ(found.count(), expected) << "insertion " << i;
    timeline.add(found, Duration(length));
    busy.emplace_back(expected, expected + length);
    std::sort(busy.begin(), busy.end());
  }
}

TEST(Timeline, FillsSeveralGapsWithWhatNeedNotBeInOnePiece) {
  Timeline timeline;
  timeline.add(Duration(10), Duration(5));   // [10, 15)
  timeline.add(Duration(30), Duration(10));  // [30, 40)
  EXPECT_EQ(timeline.end_of_fill(Duration(4), Duration(6)), Duration(10));
  EXPECT_EQ(timeline.end_of_fill(Duration(4), Duration(8)), Duration(17));
  EXPECT_EQ(timeline.end_of_fill(Duration(12), Duration(20)), Duration(45));
  timeline.fill(Duration(4), Duration(8));  // [4, 10) and [15, 17)
  EXPECT_EQ(timeline.earliest_start(Duration(0), Duration(5)), Duration(17));
  EXPECT_EQ(timeline.earliest_start(Duration(0), Duration(4)), Duration(0));
}

TEST(Ranks, ChargeRunTimesAndMeanTransfersAlongTheDearestWay) {
  const World world = diamond();
  // Two devices: the mean over the four ordered pairs is half of 10. d 10, b 50 + 5 + 10 = 65,
  // c 45, a 10 + 5 + 65 = 80.
  EXPECT_EQ(upward_ranks(*world.problem, EdgeWeight::all_pairs),
            (std::vector<double>{80, 65, 45, 10}));
  // Charged in full: b 70, a 90; downward: b and c behind a, d behind b.
  EXPECT_EQ(upward_ranks(*world.problem, EdgeWeight::distinct_pairs),
            (std::vector<double>{90, 70, 50, 10}));
  EXPECT_EQ(downward_ranks(*world.problem, EdgeWeight::all_pairs),
            (std::vector<double>{0, 15, 15, 70}));
}

TEST(Heft, PutsTheLighterBranchElsewhere) {
  // a, b and d on one device end at 70; c is sent away at 10, runs from 20 to 50, is back at 60.
  const World world = diamond();
  const Plan plan = must(plan_with("heft", *world.problem));
  EXPECT_EQ(plan.planned_makespan, Duration(70));
  EXPECT_EQ(plan.placement[0], plan.placement[1]);
  EXPECT_NE(plan.placement[1], plan.placement[2]);
}

TEST(SingleDevice, TakesTheFastestDeviceForAll) {
  const World world(graph_from(R"("ops":[
      {"name":"a","kind":"k","run_time_ns":{"slow":9,"fast":3}},
      {"name":"b","kind":"k","run_time_ns":{"slow":1,"fast":3}}])"),
                    machine_from(R"({"schema_version":1,"name":"m","device":[
      {"name":"s","kind":"slow"},{"name":"f","kind":"fast"}],
      "link":[{"name":"l","between":["s","f"]}]})"));
  const Plan plan = must(plan_with("single_device", *world.problem));
  EXPECT_EQ(plan.planned_makespan, Duration(6));
  EXPECT_EQ(plan.placement, (std::vector<DeviceId>{DeviceId{1}, DeviceId{1}}));
}

TEST(CriticalPath, TakesTheLongerBranchFirst) {
  const World world = diamond("uniform-1");
  const Plan plan = must(plan_with("critical_path", *world.problem));
  EXPECT_EQ(plan.start[1], Duration(10));  // b, 70 to the end, before c, 50
  EXPECT_EQ(plan.start[2], Duration(60));
}

TEST(CriticalPath, BreaksTiesWithTheSeed) {
  const World world(must(make_layered({.ops = 60, .width = 12})), "uniform-4");
  const Plan first = must(plan_with("critical_path", *world.problem, 1));
  const Plan second = must(plan_with("critical_path", *world.problem, 2));
  EXPECT_NE(first.placement, second.placement);
}

TEST(Random, SpreadsOpsOverAllDevices) {
  const World world(must(make_layered({.ops = 400, .width = 20})), "uniform-4");
  const Plan plan = must(plan_with("random", *world.problem));
  std::vector<int> count(4, 0);
  for (const DeviceId device : plan.placement) ++count[static_cast<size_t>(device.index)];
  for (const int ops : count) EXPECT_GT(ops, 60);
}

TEST(Policies, ThatCannotPlanForMemoryRefuseAndThoseThatCanDoNot) {
  // Two ops with a weight of 100 bytes each; a device holds 150. HEFT puts both on the fast device;
  // critical path sees that there is no room.
  const char* const machine = R"({"schema_version":1,"name":"m","device":[
      {"name":"f","kind":"fast","memory_bytes":150},{"name":"s","kind":"slow","memory_bytes":150}],
      "link":[{"name":"l","between":["f","s"]}]})";
  const char* const ops = R"("inputs":[{"name":"w1","bytes":100,"weight":true},
      {"name":"w2","bytes":100,"weight":true}],
      "ops":[{"name":"a","kind":"k","operands":["w1"],"run_time_ns":{"fast":1,"slow":100}},
             {"name":"b","kind":"k","operands":["w2"],"run_time_ns":{"fast":1,"slow":100}}])";
  const World world(graph_from(ops), machine_from(machine));
  const Result<Plan> heft = plan_with("heft", *world.problem);
  ASSERT_FALSE(heft);
  EXPECT_EQ(heft.error().kind, Error::Kind::infeasible);
  EXPECT_NE(heft.error().message.find("50 bytes more"), std::string::npos) << heft.error().message;
  const Result<Plan> critical_path = plan_with("critical_path", *world.problem);
  ASSERT_TRUE(critical_path) << critical_path.error().message;
  EXPECT_NE(critical_path->placement[0], critical_path->placement[1]);
}

TEST(Registry, PairsOfSelectAndPlacePlanAndDecideAndDecidersPlan) {
  for (const PolicyEntry& entry : policy_registry()) {
    EXPECT_TRUE(entry.plan) << entry.name;
    if (entry.make_policy) {
      EXPECT_TRUE(entry.make_decider) << entry.name;
    }
    EXPECT_EQ(entry.tuned().size(), entry.knobs.size());
  }
  for (const char* name : {"heft", "critical_path", "random", "fifo"}) {
    const auto found = find_decider(name);
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_NE((*found)->tuned_decider(), nullptr);
  }
  const auto planner = find_decider("cpop");
  ASSERT_FALSE(planner);
  EXPECT_NE(planner.error().message.find("cannot be asked about jobs that arrive; those that can "
                                         "are: random, critical_path, heft, fifo"),
            std::string::npos)
      << planner.error().message;
}

TEST(Registry, NamesWhatItHasWhenAskedForWhatItHasNot) {
  const auto entry = find_policy("hefty");
  ASSERT_FALSE(entry);
  EXPECT_NE(entry.error().message.find("heft, cpop"), std::string::npos);
}

}  // namespace
}  // namespace tutti
