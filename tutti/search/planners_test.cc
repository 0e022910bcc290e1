#include "tutti/search/planners.h"

#include <gtest/gtest.h>

#include "test/support/world.h"
#include "tutti/graph/make/layered.h"

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

}  // namespace
}  // namespace tutti
