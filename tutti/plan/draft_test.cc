#include "tutti/plan/draft.h"

#include <gtest/gtest.h>

#include <set>

#include "test/support/world.h"
#include "tutti/graph/make/layered.h"

namespace tutti {
namespace {

// All that a policy can see of a draft.
struct View {
  std::multiset<int32_t> ready;
  std::vector<Duration> free;
  std::vector<int64_t> memory;
  Duration makespan;
  friend bool operator==(const View&, const View&) = default;
};

View look(const Draft& draft) {
  View view;
  for (const OpId op : draft.ready()) view.ready.insert(op.index);
  for (const DeviceId device : draft.problem().machine.devices()) {
    view.free.push_back(draft.free_at(device));
    view.memory.push_back(draft.memory_left(device));
  }
  view.makespan = draft.makespan();
  return view;
}

TEST(Draft, UndoGivesBackEveryEarlierState) {
  const World world(must(make_layered({.ops = 80, .width = 8})), "p100-4");
  Draft draft(*world.problem);
  Rng rng(9);
  std::vector<View> views;
  std::vector<OpId> first_ready(draft.ready().begin(), draft.ready().end());
  while (!draft.complete()) {
    views.push_back(look(draft));
    const OpId op = draft.ready()[rng.below(draft.ready().size())];
    const auto devices = draft.devices_for(op);
    draft.apply(op, devices[rng.below(devices.size())]);
  }
  while (draft.placed_count() > 0) {
    draft.undo();
    EXPECT_EQ(look(draft), views.back());
    views.pop_back();
  }
  EXPECT_TRUE(std::equal(first_ready.begin(), first_ready.end(), draft.ready().begin()));
}

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

}  // namespace
}  // namespace tutti
