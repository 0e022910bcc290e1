#include "tutti/runtime/sim/remembered_run.h"

#include <gtest/gtest.h>

#include "tutti/runtime/sim/physical.h"
#include "tutti/runtime/sim/testing.h"

namespace tutti {
namespace {

using namespace testing;

// Changes one to three ops: their devices, their priorities, or both.
void change(const Problem& problem, Rng& rng, Plan& plan) {
  for (uint64_t changes = 1 + rng.below(3); changes > 0; --changes) {
    const size_t op = rng.below(plan.placement.size());
    if (rng.below(3) != 0) {
      const uint64_t device = rng.below(static_cast<uint64_t>(problem.machine.size()));
      plan.placement[op] = DeviceId{static_cast<int32_t>(device)};
    }
    if (rng.below(3) != 0) plan.priority[op] = static_cast<int64_t>(rng.below(20));
  }
}

struct Counts {
  int runs = 0;
  int continued = 0;  // from a state of the run before
  int stuck = 0;
};

// A walk over plans, as a search makes it: each is run with and without memory of the last one.
void walk(const RandomWorld& options, uint64_t seed, Counts& counts) {
  Rng rng(seed);
  const World world = random_world(options, rng);
  const Problem& problem = *world.problem;
  constexpr ReadyOrder kOrders[] = {ReadyOrder::priority, ReadyOrder::fifo, ReadyOrder::random};
  const ReadyOrder order = kOrders[rng.below(3)];
  PhysicalSimulator fresh(problem);
  PhysicalSimulator continued(problem);
  RememberedRun remembered(problem);
  Plan plan = random_plan(problem, rng);
  plan.strict_order.clear();
  for (int step = 0; step < 30; ++step) {
    const Plan before = plan;
    change(problem, rng, plan);
    const SimOptions sim{.order = order, .seed = seed, .sample = options.noise};
    const Result<Duration> expected = fresh.run(plan, sim);
    counts.continued += remembered.shared_with(plan) != nullptr;
    SimOptions remembering = sim;
    remembering.remembered = &remembered;
    if (expected && rng.below(2) == 0) {  // a limit that the run may or may not keep
      remembering.give_up_beyond = Duration(
          static_cast<int64_t>(static_cast<double>(expected->count()) * (0.5 + rng.uniform())));
    }
    const Result<Duration> found = continued.run(plan, remembering);
    ++counts.runs;
    ASSERT_EQ(found.has_value(), expected.has_value()) << "seed " << seed << ", step " << step;
    if (!expected) {
      ++counts.stuck;
      EXPECT_EQ(found.error().message, expected.error().message);
      plan = before;
      continue;
    }
    if (*found == kNever) {
      EXPECT_GT(*expected, remembering.give_up_beyond) << "seed " << seed << ", step " << step;
      plan = before;
      continue;
    }
    ASSERT_EQ(*found, *expected) << "seed " << seed << ", step " << step;
    for (const OpId op : problem.graph.ops()) {
      ASSERT_EQ(continued.start(op), fresh.start(op)) << "seed " << seed << ", step " << step;
      ASSERT_EQ(continued.finish(op), fresh.finish(op)) << "seed " << seed << ", step " << step;
      ASSERT_EQ(continued.decided_by(op), fresh.decided_by(op)) << "seed " << seed;
    }
  }
}

TEST(RememberedRun, ContinuesToTheSameEnd) {
  Counts counts;
  for (uint64_t seed = 0; seed < 300; ++seed) walk({.limits = false}, seed, counts);
  EXPECT_EQ(counts.runs, 9000);
  EXPECT_GT(counts.continued, counts.runs / 4);
}

TEST(RememberedRun, ContinuesToTheSameEndWithDrawnDurations) {
  Counts counts;
  for (uint64_t seed = 0; seed < 200; ++seed) walk({.limits = false, .noise = true}, seed, counts);
  EXPECT_GT(counts.continued, counts.runs / 4);
}

TEST(RememberedRun, ContinuesToTheSameEndInLimitedMemory) {
  Counts counts;
  for (uint64_t seed = 0; seed < 600; ++seed) walk({}, seed, counts);
  EXPECT_GT(counts.continued, counts.runs / 20);
  EXPECT_GT(counts.stuck, 0);
  EXPECT_LT(counts.stuck, counts.runs / 2 + counts.runs / 4);
}

}  // namespace
}  // namespace tutti
