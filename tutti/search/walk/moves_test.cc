#include "tutti/search/walk/moves.h"

#include <gtest/gtest.h>

#include "test/support/world.h"
#include "tutti/graph/make/layered.h"
#include "tutti/plan/check/check.h"

namespace tutti {
namespace {

// 40 ops on three devices: one is pinned, one may not go to device2, three stay together.
World bound_world() {
  Graph graph = must(make_layered({.ops = 40, .width = 8}));
  const auto name = [&](int32_t op) { return std::string(graph.op_name(OpId{op})); };
  Constraints constraints;
  constraints.pins = {{.op = name(3), .devices = {"device1"}}};
  constraints.forbidden = {{.op = name(7), .op_kind = "", .device = "device2", .device_kind = ""}};
  constraints.colocations = {{name(10), name(20), name(30)}};
  return {std::move(graph), must(make_preset("uniform-3")), {}, constraints};
}

// Everything on device1, which all constraints allow.
Plan start_of(const Problem& problem) {
  Plan plan;
  plan.placement.assign(static_cast<size_t>(problem.graph.size()), DeviceId{1});
  for (int32_t i = 0; i < problem.graph.size(); ++i) plan.priority.push_back(i);
  return plan;
}

TEST(Moves, KeepToPinsForbiddenPairsAndColocation) {
  const World world = bound_world();
  const std::vector<OpId> hot = {OpId{3}, OpId{7}, OpId{10}};  // where constraints bite
  for (const bool ordering : {false, true}) {
    Moves moves(*world.problem, ordering);
    Plan plan = start_of(*world.problem);
    Rng rng(5);
    int changed = 0;
    for (int i = 0; i < 5000; ++i) {
      changed += moves.propose(plan, hot, rng);
      ASSERT_EQ(check_plan(*world.problem, plan), std::vector<std::string>{}) << "after move " << i;
    }
    EXPECT_GT(changed, 2500);
  }
}

TEST(Moves, AreTakenBackWhole) {
  const World world = bound_world();
  Moves moves(*world.problem, /*ordering=*/true);
  Plan plan = start_of(*world.problem);
  Rng rng(6);
  int moved = 0;
  int reordered = 0;
  for (int i = 0; i < 5000; ++i) {
    const Plan before = plan;
    const bool changes = moves.propose(plan, {}, rng);
    moved += plan.placement != before.placement;
    reordered += plan.priority != before.priority;
    if (!changes) {
      ASSERT_EQ(plan.placement, before.placement) << i;
      ASSERT_EQ(plan.priority, before.priority) << i;
    }
    if (i % 2 == 0) continue;  // accepted: the next starts elsewhere
    moves.undo(plan);
    ASSERT_EQ(plan.placement, before.placement) << i;
    ASSERT_EQ(plan.priority, before.priority) << i;
  }
  EXPECT_GT(moved, 1000);
  EXPECT_GT(reordered, 500);
}

TEST(Moves, LeavePrioritiesAloneWhereNobodyLooksAtThem) {
  const World world = bound_world();
  Moves moves(*world.problem, /*ordering=*/false);
  Plan plan = start_of(*world.problem);
  const std::vector<int64_t> priority = plan.priority;
  Rng rng(7);
  for (int i = 0; i < 2000; ++i) moves.propose(plan, {}, rng);
  EXPECT_EQ(plan.priority, priority);
}

}  // namespace
}  // namespace tutti
