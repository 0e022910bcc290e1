// Whatever the simulator does in a random world, the judge finds nothing wrong with it. The two
// share no code, so each vouches for the other.

#include <gtest/gtest.h>

#include <algorithm>

#include "tutti/plan/bound.h"
#include "tutti/runtime/sim/passes.h"
#include "tutti/runtime/sim/sim.h"
#include "tutti/runtime/sim/testing.h"
#include "tutti/trace/check.h"

namespace tutti {
namespace {

constexpr ReadyOrder kOrders[] = {ReadyOrder::priority, ReadyOrder::priority, ReadyOrder::fifo,
                                  ReadyOrder::lifo, ReadyOrder::random};

// Runs many plans, or online policies, and says how many came to an end.
int judge_runs(const testing::RandomWorld& options, int runs, bool online) {
  int ended = 0;
  for (int i = 0; i < runs; ++i) {
    Rng rng = Rng(17).split(static_cast<uint64_t>(i));
    const World world = testing::random_world(options, rng);
    const SimOptions sim{.order = kOrders[rng.below(5)],
                         .seed = static_cast<uint64_t>(i),
                         .sample = world.costs.has_noise()};
    SimRuntime runtime(SimModel::physical, sim);
    const Plan plan = testing::random_plan(*world.problem, rng);
    Policy policy = testing::random_policy(rng, /*pauses=*/i % 2 == 0);
    const Result<Trace> trace =
        online ? runtime.run_online(*world.problem, policy) : runtime.run(*world.problem, plan);
    if (!trace) continue;
    ++ended;
    EXPECT_EQ(check_trace(*world.problem, *trace, rules_for(*trace, online ? nullptr : &plan)),
              std::vector<std::string>())
        << "run " << i;
  }
  return ended;
}

TEST(RandomRuns, OfPlansPassTheJudge) {
  EXPECT_EQ(judge_runs({.limits = false}, 300, /*online=*/false), 300);
}

TEST(RandomRuns, OfPlansInLimitedMemoryPassTheJudge) {
  EXPECT_GT(judge_runs({}, 800, /*online=*/false), 100);
}

TEST(RandomRuns, OfOnlinePoliciesPassTheJudge) {
  EXPECT_GT(judge_runs({.limits = false}, 300, /*online=*/true), 150);
}

TEST(RandomRuns, OfOnlinePoliciesInLimitedMemoryPassTheJudge) {
  EXPECT_GT(judge_runs({}, 800, /*online=*/true), 100);
}

TEST(RandomRuns, WithDrawnDurationsPassTheJudge) {
  EXPECT_GT(judge_runs({.noise = true}, 400, /*online=*/false), 50);
  EXPECT_GT(judge_runs({.noise = true}, 400, /*online=*/true), 50);
}

// Puts off by a microsecond all that starts at some time or later. What ended just then let the
// first of it start, so that it now waits for nothing.
void stand_still(Trace& trace, Rng& rng) {
  constexpr Duration kLate(1000);
  const Duration from = trace.ops[rng.below(trace.ops.size())].start;
  const auto put_off = [&](auto& span) {
    if (span.start < from) return;
    span.start += kLate;
    span.finish += kLate;
  };
  for (OpSpan& span : trace.ops) put_off(span);
  for (TransferSpan& span : trace.transfers) put_off(span);
  trace.makespan = Duration{0};
  for (const OpSpan& span : trace.ops) trace.makespan = std::max(trace.makespan, span.finish);
}

TEST(RandomRuns, ThatStandStillAreCaughtWhateverTheirMemory) {
  int ended = 0;
  for (uint64_t i = 0; i < 800; ++i) {
    Rng rng = Rng(31).split(i);
    const World world = testing::random_world({.limits = i % 4 != 0}, rng);
    const Plan plan = testing::random_plan(*world.problem, rng);
    Result<Trace> trace = SimRuntime().run(*world.problem, plan);
    if (!trace) continue;
    ++ended;
    stand_still(*trace, rng);
    EXPECT_NE(check_trace(*world.problem, *trace, {.plan = &plan}), std::vector<std::string>())
        << "run " << i;
  }
  EXPECT_GT(ended, 100);
}

// Shared links divide time by floating point, which rounds differently later on.
TEST(RandomRuns, OfRepeatedPassesTakeTheMakespanOneAtATime) {
  int compared = 0;
  for (uint64_t i = 0; i < 300; ++i) {
    Rng rng = Rng(47).split(i);
    const World world = testing::random_world({.limits = false}, rng);
    if (world.problem->has_homed_weights()) continue;  // they are sent to the first pass alone
    ++compared;
    const Plan plan = testing::random_plan(*world.problem, rng);
    const Result<Trace> alone = SimRuntime().run(*world.problem, plan);
    ASSERT_TRUE(alone) << alone.error().message;
    const Result<Duration> time = must(Passes::make(*world.problem, 1)).time_per_pass(plan);
    ASSERT_TRUE(time) << time.error().message;
    EXPECT_NEAR(static_cast<double>(time->count()), static_cast<double>(alone->makespan.count()), 2)
        << "run " << i;
  }
  EXPECT_GT(compared, 100);
}

TEST(RandomRuns, OfRepeatedPassesAreNeverShorterThanTheirBounds) {
  int ended = 0;
  for (uint64_t i = 0; i < 400; ++i) {
    Rng rng = Rng(53).split(i);
    const World world = testing::random_world({.limits = i % 2 == 0}, rng);
    const Plan plan = testing::random_plan(*world.problem, rng);
    const Bounds bounds = lower_bounds(*world.problem);
    for (const int in_flight : {1, 2, 5}) {
      const Result<Duration> time =
          must(Passes::make(*world.problem, in_flight)).time_per_pass(plan);
      if (!time) continue;  // for want of memory
      ++ended;
      EXPECT_GE(*time, bound_per_pass(*world.problem, bounds, in_flight)) << "run " << i;
    }
  }
  EXPECT_GT(ended, 500);
}

}  // namespace
}  // namespace tutti
