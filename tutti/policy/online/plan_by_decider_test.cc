#include "tutti/policy/online/plan_by_decider.h"

#include <gtest/gtest.h>

#include "tutti/plan/testing.h"
#include "tutti/policy/online/fifo.h"

namespace tutti {
namespace {

using testing::kGpu0;
using testing::kGpu1;
using testing::ns;

Result<Plan> plan_by_fifo(const Problem& problem, const Budget& budget = {}) {
  Fifo fifo(Fifo::Prefer::quickest, /*patience=*/5);
  return plan_by_decider(fifo, problem, budget, 1);
}

TEST(PlanByDecider, PlacesOpsAsTheDeciderDoesAtTheTimesOfTheDraft) {
  const testing::World world(testing::small_graph(), testing::small_machine());
  const Result<Plan> plan = plan_by_fifo(world.problem());
  ASSERT_TRUE(plan) << plan.error().message;
  // The cpu takes longer than c has patience; d waits for c's value from gpu1.
  EXPECT_EQ(plan->placement, (std::vector{kGpu0, kGpu0, kGpu1, kGpu0, kGpu0}));
  EXPECT_EQ(plan->start, (std::vector{ns(110), ns(210), ns(430), ns(750), ns(850)}));
  EXPECT_EQ(plan->planned_makespan, ns(950));
}

TEST(PlanByDecider, KeepsColocatedOpsTogether) {
  Constraints constraints;
  constraints.colocations = {{"b", "c"}};
  const testing::World world(testing::small_graph(), testing::small_machine(), constraints);
  const Result<Plan> plan = plan_by_fifo(world.problem());
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->placement[1], plan->placement[2]);
  EXPECT_EQ(plan->start[2], plan->finish[1]);
}

TEST(PlanByDecider, WaitsForContextsToBeConfigured) {
  MachineSpec spec = testing::small_machine();
  for (int gpu = 0; gpu < 2; ++gpu) {
    spec.devices[gpu].device.contexts = 1;
    spec.devices[gpu].device.reconfiguration_time = ns(50);
  }
  spec.devices.pop_back();
  const testing::World world(testing::small_graph(), spec);
  const Result<Plan> plan = plan_by_fifo(world.problem());
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->start[0], ns(110));  // configured while x is on its way
}

TEST(PlanByDecider, RefusesWithASentenceIfMemoryIsShortOrTimeIsUp) {
  MachineSpec spec = testing::small_machine();
  spec.hosts[0].memory_bytes = 120;
  for (int gpu = 0; gpu < 2; ++gpu) spec.devices[gpu].memory_bytes = 120;
  const testing::World tight(testing::small_graph(), spec);
  const Result<Plan> none = plan_by_fifo(tight.problem());
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, Error::Kind::infeasible);
  const testing::World world(testing::small_graph(), testing::small_machine());
  const Result<Plan> late = plan_by_fifo(world.problem(), {.stop = Stop().by(Stop::Clock::now())});
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().kind, Error::Kind::out_of_time);
}

}  // namespace
}  // namespace tutti
