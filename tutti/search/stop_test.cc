// That budgets and interrupts reach into the loops. Simulations are counted, not seconds.

#include "tutti/base/stop.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>

#include "test/support/world.h"
#include "tutti/graph/make/layered.h"
#include "tutti/policy/registry.h"
#include "tutti/search/auto.h"
#include "tutti/search/exact/work_conserving.h"
#include "tutti/search/planners.h"

namespace tutti {
namespace {

constexpr int kManyScenarios = 10'000;

World noisy_world(int32_t ops) {
  CostSpec spec;
  spec.run_time_noise = {.model = NoiseSpec::Model::log_normal, .spread = 0.1};
  return {must(make_layered({.ops = ops})), must(make_preset("p100-4")), spec};
}

TEST(Stop, IsTheEarlierOfTwoTimes) {
  const auto now = Stop::Clock::now();
  const Stop later = Stop().by(now + std::chrono::hours(1));
  EXPECT_FALSE(Stop().now());
  EXPECT_FALSE(later.now());
  EXPECT_TRUE(later.by(now).now());
  EXPECT_TRUE(Stop().by(now).by(now + std::chrono::hours(1)).now());
  EXPECT_FALSE(Stop().by(now).without_time().now());
}

TEST(Stop, IsNowWhenItsFlagIsRaised) {
  std::atomic<bool> flag{false};
  const Stop stop(&flag);
  EXPECT_FALSE(stop.now());
  flag = true;
  EXPECT_TRUE(stop.now());
}

TEST(Stop, EndsAnEvaluationInTheMidstOfItsScenarios) {
  const World world = noisy_world(50);
  const Plan plan = must(make_plan(**find_policy("heft"), *world.problem, {}, 1));
  const std::atomic<bool> raised{true};
  Evaluator evaluator(*world.problem, {.scenarios = {.count = kManyScenarios}}, Stop(&raised));
  EXPECT_EQ(evaluator.cost(plan), kNoPlan);
  EXPECT_LE(evaluator.evaluations(), 1);
}

TEST(Stop, EndsEveryPolicyThatTakesLong) {
  const World world = noisy_world(200);
  const std::atomic<bool> raised{true};
  for (const char* name : {"random", "critical_path", "heft", "cpop", "peft", "etf", "m_etf",
                           "m_sct", "contention_eft", "best_subset", "components", "locality",
                           "greedy_locator", "enumerative", "doppler"}) {
    const Result<Plan> plan =
        make_plan(**find_policy(name), *world.problem,
                  {.wall_clock = {}, .evaluations = {}, .stop = Stop(&raised)}, 1);
    ASSERT_FALSE(plan) << name;
    EXPECT_EQ(plan.error().message, out_of_time().message) << name;
  }
}

TEST(Stop, LeavesAutoOnePlanAndTwoSimulations) {
  const World world = noisy_world(100);
  const std::atomic<bool> raised{true};
  AutoSettings settings;
  settings.model.scenarios.count = kManyScenarios;
  settings.budget.stop = Stop(&raised);
  const AutoResult result = must(plan_auto(*world.problem, settings));
  EXPECT_EQ(result.plan.placement.size(), 100u);
  EXPECT_EQ(result.judged_on, 1);
  EXPECT_LT(result.plan.provenance.evaluations, 100);
}

TEST(Stop, LetsAShortWallClockTakeFewerScenarios) {
  const World world = noisy_world(300);
  AutoSettings settings;
  settings.model.scenarios.count = kManyScenarios;
  settings.budget.wall_clock = std::chrono::milliseconds(100);
  const AutoResult result = must(plan_auto(*world.problem, settings));
  // All scenarios for every policy would be 19 times 10,000 simulations.
  EXPECT_LT(result.scenarios, kManyScenarios);
  EXPECT_LT(result.plan.provenance.evaluations, 19 * kManyScenarios);
  EXPECT_NE(result.shortfall.find("scenarios"), std::string::npos);
  for (const char* name : {"annealing", "lns", "random_keys"}) {
    const PolicyEntry entry = must(find_planner(name, settings));
    const Plan plan = must(make_plan(entry, *world.problem, settings.budget, 1));
    EXPECT_LT(plan.provenance.evaluations, 3 * kManyScenarios) << name;
  }
}

TEST(Stop, LeavesAllScenariosToACount) {
  const World world = noisy_world(20);
  AutoSettings settings;
  settings.model.scenarios.count = 50;
  settings.budget.evaluations = 10;
  const AutoResult result = must(plan_auto(*world.problem, settings));
  EXPECT_EQ(result.scenarios, 50);
  EXPECT_EQ(result.judged_on, 32);
  EXPECT_EQ(result.shortfall, "");
}

TEST(Stop, LeavesTheExactMethodItsBestSoFar) {
  const World world(must(make_layered({.ops = 40, .width = 6})), "uniform-3");
  const std::atomic<bool> raised{true};
  const ExactPlan exact = must(best_work_conserving(
      *world.problem, {.wall_clock = {}, .evaluations = {}, .stop = Stop(&raised)}));
  EXPECT_FALSE(exact.proven);
  EXPECT_EQ(exact.plan.placement.size(), 40u);
}

}  // namespace
}  // namespace tutti
