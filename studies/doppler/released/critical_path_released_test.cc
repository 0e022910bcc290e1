#include "studies/doppler/released/critical_path_released.h"

#include <gtest/gtest.h>

#include "test/support/world.h"
#include "tutti/graph/make/layered.h"
#include "tutti/policy/testing.h"
#include "tutti/search/auto.h"

namespace tutti {
namespace {

TEST(CriticalPathReleased, IgnoresTheLongestWay) {
  // Published defect 1: with one op of the highest b-level the oldest ready op is taken, whatever
  // its own. "long" is younger than "short" by id.
  const World world(graph_from(R"("ops":[
      {"name":"short","kind":"k","run_time_ns":1},
      {"name":"long","kind":"k","run_time_ns":100}])"),
                    "uniform-1");
  const Plan released = must(plan_with("critical_path_released", *world.problem));
  EXPECT_LT(released.priority[0], released.priority[1]);
  const Plan correct = must(plan_with("critical_path", *world.problem));
  EXPECT_LT(correct.priority[1], correct.priority[0]);
}

TEST(Auto, LeavesOutPoliciesThatExistForComparisonOnly) {
  const World world(must(make_layered({.ops = 20, .width = 4})), "uniform-2");
  AutoSettings settings;
  settings.budget.evaluations = 2000;
  const AutoResult result = must(plan_auto(*world.problem, settings));
  EXPECT_FALSE(result.tried.empty());
  for (const Tried& tried : result.tried) EXPECT_NE(tried.policy, "critical_path_released");
}

}  // namespace
}  // namespace tutti
