#include "tutti/search/planners.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "test/support/world.h"
#include "tutti/graph/make/layered.h"
#include "tutti/policy/doppler/planner.h"
#include "tutti/policy/doppler/residual_net.h"
#include "tutti/search/evaluate/scenario_simulator.h"

namespace tutti {
namespace {

// Three devices of so many bytes for values of about 1 MB, twelve of them at a time.
World tight_world(int64_t bytes) {
  Constraints constraints;
  for (const char* memory : {"device0", "device1", "device2"}) {
    constraints.memory_limits.push_back({.memory = memory, .bytes = bytes});
  }
  return {must(make_layered({.ops = 60, .width = 12, .bytes = 1'000'000})),
          must(make_preset("uniform-3")),
          {},
          constraints};
}

TEST(SearchPlanners, StartFromAnyPolicyThatFindsRoom) {
  for (const int64_t bytes : {12'500'000, 13'000'000, 14'000'000}) {
    const World world = tight_world(bytes);
    for (const char* quick : {"single_device", "critical_path"}) {
      ASSERT_FALSE(make_plan(**find_policy(quick), *world.problem, {}, 1)) << quick;
    }
    for (const char* name : {"annealing", "lns", "random_keys", "contention_keys", "guided"}) {
      const PolicyEntry entry = must(find_planner(name, {}));
      const Result<Plan> plan =
          make_plan(entry, *world.problem, {.wall_clock = {}, .evaluations = 50, .stop = {}}, 1);
      EXPECT_TRUE(plan) << name << ": " << plan.error().message;
    }
  }
}

TEST(SearchPlanners, KeepToTheirCountOfSimulations) {
  CostSpec costs;
  costs.run_time_noise = {.model = NoiseSpec::Model::log_normal, .spread = 0.1};
  const World world{must(make_layered({.ops = 120, .width = 10, .bytes = 1 << 22})),
                    must(make_preset("v100-8-nvlink")), costs};
  AutoSettings settings;
  settings.model.scenarios.count = 8;
  for (const char* name : {"annealing", "lns", "random_keys", "contention_keys", "guided"}) {
    for (const int64_t count : {400, 2000}) {
      const PolicyEntry entry = must(find_planner(name, settings));
      const Plan plan = must(make_plan(entry, *world.problem,
                                       {.wall_clock = {}, .evaluations = count, .stop = {}}, 1));
      // A plan is simulated in all eight scenarios or not at all.
      EXPECT_LE(plan.provenance.evaluations, count + 8 * kIslands) << name;
      EXPECT_GE(plan.provenance.evaluations, count * 9 / 10) << name;
    }
  }
}

TEST(SearchPlanners, GoOnWhereMostOpsArePinned) {
  Constraints constraints;
  for (int i = 0; i < 120; ++i) {
    if (i % 12 == 0) continue;
    constraints.pins.push_back({.op = "op" + std::to_string(i), .devices = {"gpu0"}});
  }
  const World world{must(make_layered({.ops = 120, .width = 10, .bytes = 1 << 22})),
                    must(make_preset("p100-4")),
                    {},
                    constraints};
  for (const char* name : {"annealing", "lns", "guided"}) {
    const PolicyEntry entry = must(find_planner(name, {}));
    const Plan plan = must(
        make_plan(entry, *world.problem, {.wall_clock = {}, .evaluations = 1000, .stop = {}}, 1));
    EXPECT_GE(plan.provenance.evaluations, 900) << name;
  }
}

TEST(SearchPlanners, SayThatNoPlanWasFoundWhereNothingIsProven) {
  const World world = tight_world(8'000'000);
  for (const char* name : {"annealing", "auto"}) {
    const PolicyEntry entry = must(find_planner(name, {}));
    const Result<Plan> plan =
        make_plan(entry, *world.problem, {.wall_clock = {}, .evaluations = 50, .stop = {}}, 1);
    ASSERT_FALSE(plan);
    EXPECT_EQ(plan.error().kind, Error::Kind::infeasible);
    EXPECT_TRUE(plan.error().message.starts_with("no plan found: ")) << plan.error().message;
    EXPECT_NE(plan.error().message.find("'device"), std::string::npos) << plan.error().message;
    EXPECT_EQ(plan.error().message.find("fits on no device"), std::string::npos);
  }
}

TEST(SearchPlanners, ProveThatAnOpFitsOnNoDevice) {
  const World world = tight_world(1'000'000);
  const PolicyEntry entry = must(find_planner("annealing", {}));
  const Result<Plan> plan = make_plan(entry, *world.problem, {}, 1);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().kind, Error::Kind::infeasible);
  EXPECT_NE(plan.error().message.find("fits on no device"), std::string::npos)
      << plan.error().message;
}

TEST(SearchPlanners, ProveThatWeightsExceedAllMemory) {
  // Three weights of 100 bytes on two devices of 140: each op fits, all of them do not.
  Constraints constraints;
  constraints.memory_limits = {{.memory = "device0", .bytes = 140},
                               {.memory = "device1", .bytes = 140}};
  const World world(graph_from(R"("inputs":[{"name":"u","bytes":100,"weight":true},
      {"name":"v","bytes":100,"weight":true},{"name":"w","bytes":100,"weight":true}],
      "ops":[{"name":"a","kind":"k","operands":["u"],"run_time_ns":1},
             {"name":"b","kind":"k","operands":["v"],"run_time_ns":1},
             {"name":"c","kind":"k","operands":["w"],"run_time_ns":1}])"),
                    must(make_preset("uniform-2")), {}, constraints);
  const Result<Plan> plan = make_plan(must(find_planner("lns", {})), *world.problem, {}, 1);
  ASSERT_FALSE(plan);
  EXPECT_NE(plan.error().message.find("20 bytes too few"), std::string::npos)
      << plan.error().message;
}

TEST(Planners, DopplerDecidesByTheGivenNetworkAlsoWithinAuto) {
  const World world(must(make_layered({.ops = 60, .width = 12, .bytes = 20'000'000})),
                    must(make_preset("p100-4")));
  AutoSettings settings;
  settings.trained_model = std::make_shared<const DopplerModel>(
      must(DopplerModel::load(ResidualNet::fresh({.width = 16}, 5), "fresh")));
  settings.budget.evaluations = 1;
  const Plan expected = must(plan_greedily(*settings.trained_model, *world.problem));
  const Plan given =
      must(make_plan(must(find_planner("doppler", settings)), *world.problem, {}, 1));
  const Plan ours = must(make_plan(must(find_planner("doppler", {})), *world.problem, {}, 1));
  EXPECT_EQ(given.placement, expected.placement);
  EXPECT_EQ(given.priority, expected.priority);
  EXPECT_NE(given.placement, ours.placement);
  const AutoResult result = must(plan_auto(*world.problem, settings));
  const auto tried = std::find_if(result.tried.begin(), result.tried.end(),
                                  [](const Tried& one) { return one.policy == "doppler"; });
  ASSERT_NE(tried, result.tried.end());
  EXPECT_EQ(tried->makespan,
            must(ScenarioSimulator(*world.problem, settings.model.model, settings.model.order)
                     .makespan(expected, settings.seed)));
}

}  // namespace
}  // namespace tutti
