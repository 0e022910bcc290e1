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
  for (const auto& [ordering, scale] :
       {std::pair(false, 1.0), std::pair(true, 1.0), std::pair(true, 12.0)}) {
    Moves moves(*world.problem, ordering);
    moves.set_scale(scale);
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

class MovesOfScale : public ::testing::TestWithParam<double> {};
INSTANTIATE_TEST_SUITE_P(Moves, MovesOfScale, ::testing::Values(1.0, 12.0));

TEST_P(MovesOfScale, AreTakenBackWhole) {
  const World world = bound_world();
  Moves moves(*world.problem, /*ordering=*/true);
  moves.set_scale(GetParam());
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
  EXPECT_GT(reordered, GetParam() == 1.0 ? 500 : 100);
}

TEST(Moves, OfSetsTakeAsManyConnectedOpsAsTheScaleSays) {
  const World world(must(make_layered({.ops = 400, .width = 20})), "uniform-2");
  Moves moves(*world.problem, /*ordering=*/false);
  moves.set_scale(32);
  Plan plan = start_of(*world.problem);  // no op is on the other device: none comes back
  Rng rng(8);
  for (int i = 0; i < 500; ++i) {
    const Plan before = plan;
    if (!moves.propose(plan, {}, rng)) continue;
    int moved = 0;
    for (size_t op = 0; op < 400; ++op) moved += plan.placement[op] != before.placement[op];
    EXPECT_GE(moved, 1);
    EXPECT_LE(moved, 2 * 32);  // a set, and one that comes back
    if (i < 10) {
      EXPECT_GE(moved, 8) << i;  // all is on one device still, and connected
    }
    moves.undo(plan);
  }
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
