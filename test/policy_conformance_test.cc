// Every policy that plans, deciders and planners that search among them, on every case of the
// conformance kit, with every runtime, before the run and during it. Those of the studies too.

#include <gtest/gtest.h>

#include "tutti/plan/check/check.h"
#include "tutti/plan/file.h"
#include "tutti/runtime/conformance_testing.h"
#include "tutti/runtime/null/null.h"
#include "tutti/runtime/sim/sim.h"
#include "tutti/search/planners.h"

namespace tutti {
namespace {

std::vector<std::string> policy_names() {
  std::vector<std::string> names;
  for (const PolicyEntry& entry : all_planners({})) {
    // It needs machines without contention, and has tests of its own.
    if (entry.name != "exact") names.push_back(entry.name);
  }
  return names;
}

class PolicyConformance : public testing::TestWithParam<std::string> {
 protected:
  PolicyConformance() : entry_(find_planner(GetParam(), {}).value()) {}
  const PolicyEntry& entry() const { return entry_; }

  // Enough for a search to make moves of every kind.
  const Budget budget_{.wall_clock = {}, .evaluations = 300};

 private:
  PolicyEntry entry_;
};

INSTANTIATE_TEST_SUITE_P(All, PolicyConformance, testing::ValuesIn(policy_names()),
                         [](const auto& instance) { return instance.param; });

TEST_P(PolicyConformance, PlansObeyTheProblemOrRefuseWithASentence) {
  for (const auto& c : conformance_cases()) {
    const Result<Plan> plan = make_plan(entry(), c.problem, budget_, 1);
    if (!plan) {
      EXPECT_EQ(plan.error().kind, Error::Kind::infeasible) << c.name;
      EXPECT_FALSE(plan.error().message.empty());
      // Only want of memory, of a device that may run everything, or of an expert's advice in the
      // graph is a reason to refuse.
      EXPECT_TRUE(c.tight_memory || entry().name == "single_device" || entry().name == "expert")
          << c.name << ": " << plan.error().message;
      continue;
    }
    EXPECT_EQ(check_plan(c.problem, *plan), std::vector<std::string>()) << c.name;
  }
}

TEST_P(PolicyConformance, TheSameSeedGivesTheSamePlan) {
  for (const auto& c : conformance_cases()) {
    const Result<Plan> first = make_plan(entry(), c.problem, budget_, 7);
    const Result<Plan> second = make_plan(entry(), c.problem, budget_, 7);
    ASSERT_EQ(first.has_value(), second.has_value()) << c.name;
    if (!first) continue;
    EXPECT_EQ(plan_to_json(*first, c.problem), plan_to_json(*second, c.problem)) << c.name;
  }
}

TEST_P(PolicyConformance, PlansRunOnEveryRuntime) {
  for (const auto& c : conformance_cases()) {
    const Result<Plan> plan = make_plan(entry(), c.problem, budget_, 1);
    if (!plan) continue;
    NullRuntime null;
    if (!c.tight_memory) {
      EXPECT_EQ(conformance_faults(null, c.problem, *plan, /*repeatable=*/true),
                std::vector<std::string>())
          << "null, " << c.name;
    }
    for (const SimModel model : sim_models()) {
      if (model == SimModel::physical) continue;  // below, with all its orders
      SimRuntime other(model);
      EXPECT_EQ(conformance_faults(other, c.problem, *plan, /*repeatable=*/true),
                std::vector<std::string>())
          << model.name() << ", " << c.name;
    }
    for (const ReadyOrder order :
         {ReadyOrder::priority, ReadyOrder::fifo, ReadyOrder::lifo, ReadyOrder::random}) {
      SimRuntime physical(SimModel::physical, {.order = order, .seed = 3});
      std::vector<std::string> faults =
          conformance_faults(physical, c.problem, *plan, /*repeatable=*/true);
      // Under tight memory an eager order may run into a wall; it then says so and no more.
      if (c.tight_memory && faults.size() == 1 &&
          faults[0].find("stands still") != std::string::npos) {
        continue;
      }
      EXPECT_EQ(faults, std::vector<std::string>())
          << "physical, order " << static_cast<int>(order) << ", " << c.name;
    }
  }
}

TEST_P(PolicyConformance, OnlinePoliciesRunOnEveryRuntime) {
  if (!entry().make_policy) GTEST_SKIP() << GetParam() << " plans ahead and is never asked online";
  for (const auto& c : conformance_cases()) {
    if (c.tight_memory) continue;
    const auto make = [&] { return entry().make_policy(c.problem, 5); };
    NullRuntime null;
    EXPECT_EQ(online_conformance_faults(null, c.problem, make, /*repeatable=*/true),
              std::vector<std::string>())
        << "null, " << c.name;
    SimRuntime physical(SimModel::physical, {.seed = 3});
    EXPECT_EQ(online_conformance_faults(physical, c.problem, make, /*repeatable=*/true),
              std::vector<std::string>())
        << "physical, " << c.name;
  }
}

}  // namespace
}  // namespace tutti
