// Greedy plans: of graphs that are placed by groups, and of models that are none.

#include "tutti/policy/doppler/planner.h"

#include <gtest/gtest.h>

#include "tutti/graph/make/cholesky.h"
#include "tutti/graph/make/layered.h"
#include "tutti/plan/check/check.h"
#include "tutti/policy/doppler/general.h"
#include "tutti/policy/doppler/residual_net.h"
#include "tutti/policy/heuristic/contention_eft.h"
#include "tutti/policy/schedule/tight_memory.h"
#include "tutti/policy/testing.h"

namespace tutti {
namespace {

const std::vector<std::string> kNothing;  // wrong with a plan

TEST(PlanGreedily, OfALargeGraphIsValidAndHardlyWorseThanEarliestFinish) {
  for (const char* preset : {"p100-4", "cluster-2x4"}) {
    SCOPED_TRACE(preset);
    const World world(must(make_layered({.ops = 6000})), preset);
    ASSERT_GT(world.graph.size(), kMostOpByOp);
    const Plan plan = must(plan_greedily(general_model(), *world.problem));
    EXPECT_EQ(check_plan(*world.problem, plan), kNothing);
    // Both plan with transfers that queue, so that their own makespans may be compared.
    const Plan rival = must(plan_with("contention_eft", *world.problem));
    EXPECT_LE(*plan.planned_makespan, 1.1 * *rival.planned_makespan);
  }
}

TEST(PlanGreedily, OfASmallGraphGoesOpByOp) {
  const World world(must(make_layered({.ops = 300})), "p100-4");
  EXPECT_EQ(must(plan_greedily(general_model(), *world.problem)).placement,
            must(plan_op_by_op(general_model(), *world.problem)).placement);
}

TEST(PlanGuarded, IsTheSoonerOfTheGreedyPlanAndEarliestFinish) {
  const DopplerModel model = general_model();
  int fell_back = 0;
  for (const char* preset : {"uniform-4", "cpu-gpu", "p100-4", "cluster-2x4"}) {
    for (const uint64_t seed : {1, 2, 3}) {
      const World world(must(make_layered({.ops = 80, .width = 8, .seed = seed})), preset);
      const Plan guarded = must(plan_guarded(model, *world.problem));
      const Plan greedy = must(plan_greedily(model, *world.problem));
      EXPECT_LE(guarded.planned_makespan, greedy.planned_makespan);
      EXPECT_LE(guarded.planned_makespan,
                must(contention_eft(*world.problem, {})).planned_makespan);
      fell_back += guarded.placement != greedy.placement;
    }
  }
  EXPECT_GT(fell_back, 0);
  EXPECT_LT(fell_back, 12);
}

TEST(PlanGuarded, LeavesPlansAloneThatAreTimedWithoutContention) {
  const DopplerModel model = must(
      DopplerModel::load(ResidualNet::fresh({.estimate = Estimate::without_contention}, 1), ""));
  const World world(must(make_layered({.ops = 80, .width = 8})), "p100-4");
  EXPECT_EQ(must(plan_guarded(model, *world.problem)).placement,
            must(plan_greedily(model, *world.problem)).placement);
}

// Every weight is a number, and what comes of them is none.
TEST(PlanGreedily, RefusesAModelWhoseAnswersAreNoNumbers) {
  const World world(must(make_layered({.ops = 30, .width = 5})), "p100-4");
  std::vector<TensorFile> files = {ResidualNet::fresh({}, 1),
                                   ResidualNet::fresh({.one_pass = true}, 1)};
  for (TensorFile& file : files) {
    ASSERT_TRUE(plan_greedily(must(DopplerModel::load(file, "m")), *world.problem));
    for (auto& [name, tensor] : file.tensors) {
      for (float& value : tensor.data) value = 1e30F;
    }
    const DopplerModel model = must(DopplerModel::load(file, "m"));
    for (const auto& plan :
         {plan_greedily(model, *world.problem), plan_guarded(model, *world.problem)}) {
      ASSERT_FALSE(plan) << file.metadata.at("network");
      EXPECT_EQ(plan.error().kind, Error::Kind::invalid_input);
      EXPECT_NE(plan.error().message.find("no numbers"), std::string::npos);
    }
  }
  TensorFile file = ResidualNet::fresh({}, 1);
  file.tensors.at("select.rank").data[0] = 3e38F;  // SELECT alone
  file.tensors.at("select.last.weight").data.assign(64, 3e38F);
  EXPECT_FALSE(plan_greedily(must(DopplerModel::load(file, "m")), *world.problem));
}

TEST(DopplerModel, NamesANetworkThatThisProgramDoesNotKnow) {
  TensorFile file = ResidualNet::fresh({}, 1);
  file.metadata["network"] = "of\nothers";
  const auto model = DopplerModel::load(file, "m.safetensors");
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().kind, Error::Kind::invalid_input);
  EXPECT_TRUE(model.error().message.starts_with("m.safetensors: ")) << model.error().message;
  EXPECT_NE(model.error().message.find("residual"), std::string::npos) << model.error().message;
  EXPECT_EQ(model.error().message.find('\n'), std::string::npos) << model.error().message;
  file.metadata.erase("network");
  EXPECT_FALSE(DopplerModel::load(file, "m.safetensors"));
}

TEST(PlanByGroups, IsTheSameInEveryRun) {
  const World world(must(make_cholesky({.tiles = 14})), "mixed-5");
  const Plan first =
      must(plan_by_groups(general_model(), *world.problem, {}, {.most = 60, .fewest = 60}));
  const Plan second =
      must(plan_by_groups(general_model(), *world.problem, {}, {.most = 60, .fewest = 60}));
  EXPECT_EQ(first.placement, second.placement);
  EXPECT_EQ(first.priority, second.priority);
}

TEST(PlanByGroups, ObeysPinsForbiddenPairsAndColocation) {
  Graph graph = must(make_layered({.ops = 1500}));
  const auto name = [&](int op) { return std::string(graph.op_name(OpId{op})); };
  Constraints constraints;
  for (int i = 0; i < 150; ++i) constraints.pins.push_back({name(10 * i), {"fast0", "slow1"}});
  for (int i = 0; i < 150; ++i) {
    constraints.forbidden.push_back(
        {.op = name(10 * i + 1), .op_kind = "", .device = "fast1", .device_kind = "cpu"});
  }
  for (int i = 0; i < 50; ++i) {
    constraints.colocations.push_back({name(10 * i + 2), name(10 * i + 513), name(10 * i + 984)});
  }
  const World world(std::move(graph), must(make_preset("mixed-5")), {}, constraints);
  const Plan plan =
      must(plan_by_groups(general_model(), *world.problem, {}, {.most = 400, .fewest = 400}));
  EXPECT_EQ(check_plan(*world.problem, plan), kNothing);
}

TEST(PlanByGroups, ObeysMemory) {
  const Coarsening coarsening{.most = 200, .fewest = 200};
  Constraints constraints;
  for (const char* gpu : {"gpu0", "gpu1", "gpu2", "gpu3"}) {
    constraints.memory_limits.push_back({gpu, int64_t{80} << 20});
  }
  const Graph graph = must(make_layered({.ops = 1500}));
  const World roomy(graph, "p100-4");
  const World tight(graph, must(make_preset("p100-4")), {}, constraints);
  const Plan careless = must(plan_by_groups(general_model(), *roomy.problem, {}, coarsening));
  ASSERT_GT(bytes_over_in_rehearsal(*tight.problem, careless), 0);
  const Plan plan = must(plan_by_groups(general_model(), *tight.problem, {}, coarsening));
  EXPECT_EQ(check_plan(*tight.problem, plan), kNothing);
  EXPECT_EQ(bytes_over_in_rehearsal(*tight.problem, plan), 0);
}

TEST(PlanByGroups, SaysWhatLacksWhereNothingFits) {
  Constraints constraints;
  for (const char* gpu : {"gpu0", "gpu1", "gpu2", "gpu3"}) {
    constraints.memory_limits.push_back({gpu, int64_t{1} << 20});
  }
  const World world(must(make_layered({.ops = 600})), must(make_preset("p100-4")), {}, constraints);
  const Result<Plan> plan =
      plan_by_groups(general_model(), *world.problem, {}, {.most = 60, .fewest = 60});
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().kind, Error::Kind::infeasible);
}

}  // namespace
}  // namespace tutti
