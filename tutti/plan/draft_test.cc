#include "tutti/plan/draft.h"

#include <gtest/gtest.h>

#include "test/support/world.h"

namespace tutti {
namespace {

TEST(Draft, StartsAnOpWhenItsOperandsArriveAndASlotIsFree) {
  const World world(graph_from(R"("ops":[
      {"name":"a","kind":"k","run_time_ns":10},
      {"name":"b","kind":"k","run_time_ns":5,"operands":["a"],"transfer_time_ns":[7]}])"),
                    "uniform-2");
  Draft draft(*world.problem);
  draft.apply(OpId{0}, DeviceId{0});
  EXPECT_EQ(draft.earliest_start(OpId{1}, DeviceId{0}), Duration(10));
  EXPECT_EQ(draft.earliest_start(OpId{1}, DeviceId{1}), Duration(17));
  draft.apply(OpId{1}, DeviceId{1});
  EXPECT_EQ(draft.makespan(), Duration(22));
}

TEST(Draft, KeepsAColocationGroupTogether) {
  const World world(graph_from(R"("ops":[{"name":"a","kind":"k","run_time_ns":1},
                                        {"name":"b","kind":"k","run_time_ns":1}])"),
                    must(make_preset("uniform-4")), {}, {.colocations = {{"a", "b"}}});
  Draft draft(*world.problem);
  EXPECT_EQ(draft.devices_for(OpId{1}).size(), 4u);
  draft.apply(OpId{0}, DeviceId{2});
  ASSERT_EQ(draft.devices_for(OpId{1}).size(), 1u);
  EXPECT_EQ(draft.devices_for(OpId{1})[0], DeviceId{2});
}

TEST(Draft, HoldsAValueThatIsReadTwiceOnce) {
  // b needs a's 60 bytes, which it reads twice, and 30 of its own: 90 elsewhere, 150 if counted
  // twice.
  Constraints constraints;
  for (const char* gpu : {"gpu0", "gpu1", "gpu2", "gpu3"}) {
    constraints.memory_limits.push_back({gpu, 100});
  }
  const World world(graph_from(R"("ops":[
      {"name":"a","kind":"k","run_time_ns":1,"outputs":[{"bytes":60}]},
      {"name":"b","kind":"k","run_time_ns":1,"operands":["a","a"],"outputs":[{"bytes":30}]}])"),
                    must(make_preset("p100-4")), {}, constraints);
  Draft draft(*world.problem);
  draft.apply(OpId{0}, DeviceId{0});
  EXPECT_EQ(draft.devices_for(OpId{1}).size(), 4U);
}

TEST(Problem, LeavesOutDevicesThatConstraintsExclude) {
  const World world(
      graph_from(R"("ops":[{"name":"a","kind":"x","run_time_ns":1},
                                        {"name":"b","kind":"y","run_time_ns":1}])"),
      must(make_preset("mixed-5")), {},
      {.pins = {{"a", {"fast0", "cpu"}}},
       .forbidden = {{.op = "", .op_kind = "y", .device = "", .device_kind = "cpu"}}});
  EXPECT_EQ(world.problem->devices_for(OpId{0}).size(), 2u);
  EXPECT_EQ(world.problem->devices_for(OpId{1}).size(), 4u);
}

TEST(Problem, ObeysWhatTheGraphSaysOfItsOps) {
  const World world(graph_from(R"("ops":[
          {"name":"a","run_time_ns":1,"attributes":{"colocate":"7"}},
          {"name":"b","run_time_ns":1,"attributes":{"only_on":"cpu"}},
          {"name":"c","run_time_ns":1,"attributes":{"layer":"1","colocate":"7"}},
          {"name":"d","run_time_ns":1,"attributes":{"colocate":"8"}}])"),
                    must(make_preset("mixed-5")));
  EXPECT_EQ(world.problem->devices_for(OpId{1}).size(), 1u);
  EXPECT_EQ(world.problem->devices_for(OpId{0}).size(), 5u);
  ASSERT_EQ(world.problem->colocation_group_count(), 1);
  EXPECT_EQ(world.problem->members(0).size(), 2u);
  EXPECT_EQ(world.problem->colocation_group(OpId{2}), 0);
  EXPECT_EQ(world.problem->colocation_group(OpId{3}), -1);
}

TEST(Problem, IsInfeasibleWhenAnOpIsLeftWithoutADevice) {
  const World world(graph_from(R"("ops":[{"name":"a","kind":"x","run_time_ns":1}])"), "uniform-2");
  const Result<Problem> problem = world.problem->with_constraints(
      {.forbidden = {{.op = "a", .op_kind = "", .device = "", .device_kind = "device"}}});
  ASSERT_FALSE(problem);
  EXPECT_EQ(problem.error().kind, Error::Kind::infeasible);
  EXPECT_NE(problem.error().message.find("op 'a' is left without a device"), std::string::npos);
}

TEST(Problem, NamesTheInputThatNoLinkBringsToADeviceThatMayRunItsOp) {
  // The host is joined to the first device alone, which a must not run on.
  Machine machine = machine_from(R"({"schema_version":1,"name":"row","host":[{"name":"host"}],
      "device":[{"name":"d0","kind":"k"},{"name":"d1","kind":"k"}],
      "link":[{"name":"l0","between":["host","d0"],"bandwidth_bytes_per_s":1e9},
              {"name":"l1","between":["d0","d1"],"bandwidth_bytes_per_s":1e9}]})");
  const Result<Problem> problem =
      Problem::make(graph_from(R"("inputs":[{"name":"x","bytes":8,"residence":"host"}],
          "ops":[{"name":"a","operands":["x"],"run_time_ns":1}])"),
                    std::move(machine), {}, {.pins = {{"a", {"d1"}}}});
  ASSERT_FALSE(problem);
  EXPECT_NE(problem.error().message.find("input 'x' is on 'host', from which machine 'row' has no "
                                         "link to a device that may run op 'a'"),
            std::string::npos)
      << problem.error().message;
}

TEST(Problem, NamesTheInputThatNoLinkBringsToADevice) {
  // The host's memory has no links; b reads nothing from there, a does.
  const Result<Problem> problem = Problem::make(
      graph_from(R"("inputs":[{"name":"x","bytes":8,"residence":"host"}],
          "ops":[{"name":"b","run_time_ns":1},{"name":"a","operands":["x"],"run_time_ns":1}])"),
      machine_from(R"({"schema_version":1,"name":"apart","device":[{"name":"d","kind":"k"}]})"),
      {});
  ASSERT_FALSE(problem);
  EXPECT_EQ(problem.error().kind, Error::Kind::infeasible);
  EXPECT_EQ(problem.error().message,
            "input 'x' is on 'host', from which machine 'apart' has no link to a device that may "
            "run op 'a'; add a [[link]] to the machine, or give the input another residence");
}

}  // namespace
}  // namespace tutti
