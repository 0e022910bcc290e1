// The exact methods against each other, against the simulator, and against `auto`.

#include "tutti/search/exact.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "test/support/world.h"
#include "tutti/graph/builder.h"
#include "tutti/plan/bound.h"
#include "tutti/plan/check/check.h"
#include "tutti/search/auto.h"
#include "tutti/search/candidates.h"
#include "tutti/search/exact/all_schedules.h"
#include "tutti/search/exact/brute_force_testing.h"
#include "tutti/search/exact/work_conserving.h"

namespace tutti {
namespace {

// A few ops with random times per kind of device, random edges, random transfer times.
Graph random_graph(Rng& rng, int32_t ops) {
  GraphBuilder builder("random");
  std::vector<ValueId> values;
  for (int32_t i = 0; i < ops; ++i) {
    std::vector<ValueId> operands;
    for (const ValueId value : values) {
      if (rng.below(4) == 0 && operands.size() < 3) operands.push_back(value);
    }
    std::vector<GivenTime> times;
    for (const char* kind : {"a", "b"}) {
      times.push_back({kind, Duration(1 + rng.below(20))});
    }
    const ValueSpec out{.bytes = static_cast<int64_t>(1 + rng.below(15))};
    const std::string name = "op" + std::to_string(i);
    const OpId op = builder.add_op({.name = name,
                                    .kind = "k",
                                    .operands = operands,
                                    .outputs = std::span(&out, 1),
                                    .run_times = times});
    values.push_back(*builder.outputs(op).begin());
  }
  return std::move(builder).build().value();
}

// One byte takes one nanosecond, and transfers do not meet.
Machine machine_of(int devices) {
  MachineSpec spec;
  spec.name = "exact";
  for (int i = 0; i < devices; ++i) {
    MachineSpec::DeviceSpec device;
    device.device.name = "d" + std::to_string(i);
    device.device.kind = i % 2 == 0 ? "a" : "b";
    spec.devices.push_back(device);
    for (int j = 0; j < i; ++j) {
      MachineSpec::LinkSpec link;
      link.name = "l" + std::to_string(i) + "_" + std::to_string(j);
      link.ends[0] = "d" + std::to_string(i);
      link.ends[1] = "d" + std::to_string(j);
      link.bytes_per_s = 1e9;
      link.sharing = Sharing::unlimited;
      spec.links.push_back(link);
    }
  }
  return Machine::build(spec).value();
}

TEST(Exact, PlansTakeAsLongInTheSimulatorAndAutoFindsThem) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Rng rng = Rng(11).split(seed);
    const auto ops = static_cast<int32_t>(3 + rng.below(8));
    const auto devices = static_cast<int>(2 + rng.below(2));
    const World world(random_graph(rng, ops), machine_of(devices));
    const ExactPlan exact = must(best_work_conserving(*world.problem, {}));
    ASSERT_TRUE(exact.proven);
    EXPECT_EQ(must(ScenarioSimulator(*world.problem, SimModel::physical).makespan(exact.plan, 0)),
              exact.makespan)
        << "seed " << seed;
    EXPECT_LE(lower_bounds(*world.problem).strongest(), exact.makespan) << "seed " << seed;
    AutoSettings settings;
    settings.budget.evaluations = 5000;
    EXPECT_EQ(must(plan_auto(*world.problem, settings)).makespan, exact.makespan)
        << "seed " << seed;
  }
}

// bench/exact_truth does this for 10,000 seeds.
TEST(Exact, EqualsBruteForce) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const Problem problem = brute_force::random_problem(seed);
    if (problem.graph.size() > 6) continue;  // brute force takes its time
    const Duration runs = brute_force::best_work_conserving(problem);
    const ExactPlan exact = must(best_work_conserving(problem, {}));
    EXPECT_TRUE(exact.proven) << "seed " << seed;
    EXPECT_EQ(exact.makespan, runs) << "seed " << seed;
    EXPECT_EQ(must(ScenarioSimulator(problem, SimModel::physical).makespan(exact.plan, 0)), runs)
        << "seed " << seed;
    EXPECT_EQ(check_plan(problem, exact.plan), std::vector<std::string>{}) << "seed " << seed;
    if (!brute_force::has_one_slot_each(problem)) continue;
    const Duration all = brute_force::best_schedule(problem);
    const ExactPlan any = must(best_schedule(problem, {}));
    EXPECT_TRUE(any.proven) << "seed " << seed;
    EXPECT_EQ(any.makespan, all) << "seed " << seed;
    EXPECT_EQ(must(ScenarioSimulator(problem, SimModel::physical).makespan(any.plan, 0)), all)
        << "seed " << seed;
    EXPECT_EQ(check_plan(problem, any.plan), std::vector<std::string>{}) << "seed " << seed;
    EXPECT_LE(lower_bounds(problem).strongest(), all) << "seed " << seed;
  }
}

TEST(Exact, StartsAnOpThatTakesNoTimeBeforeALongOneOfTheSameInstant) {
  // Both wait for the only device at 0. "none" first, "next" of the other device may begin at 0 and
  // all is over after 10; the long one first, it begins at 10 and ends at 20. By their starts alone
  // the two are equal, and "long" has the smaller id.
  const World world(graph_from(R"("ops":[
      {"name":"long","kind":"k","run_time_ns":{"a":10}},
      {"name":"none","kind":"k","run_time_ns":{"a":0},"outputs":[{"bytes":0}]},
      {"name":"next","kind":"k","run_time_ns":{"b":10},"operands":["none"]}])"),
                    machine_of(2));
  const ExactAnswer answer = must(solve_exactly(*world.problem, {}));
  EXPECT_TRUE(answer.work_conserving.proven);
  EXPECT_EQ(answer.work_conserving.makespan, Duration(10));
  EXPECT_EQ(must(ScenarioSimulator(*world.problem, SimModel::physical)
                     .makespan(answer.work_conserving.plan, 0)),
            Duration(10));
  EXPECT_EQ(must(Result<ExactPlan>(answer.any)).makespan, Duration(10));
  // Without a plan to start from, too.
  const ExactPlan alone = must(best_work_conserving(*world.problem, {}));
  EXPECT_EQ(must(ScenarioSimulator(*world.problem, SimModel::physical).makespan(alone.plan, 0)),
            Duration(10));
}

TEST(Exact, SendsAValueOnceAsTheSimulatorDoes) {
  // Both readers run on b. The value's route takes 100 ns, but 5 are given for one of the edges,
  // and one transfer serves both: 1 + 5 + 2 + 2. Charged by edge it would be 1 + 100 + 2 or so.
  const World world(graph_from(R"("ops":[
      {"name":"make","kind":"k","run_time_ns":{"a":1},"outputs":[{"bytes":100}]},
      {"name":"timed","kind":"k","run_time_ns":{"b":2},"operands":["make"],"transfer_time_ns":[5]},
      {"name":"moved","kind":"k","run_time_ns":{"b":2},"operands":["make"]}])"),
                    machine_of(2));
  const ExactAnswer answer = must(solve_exactly(*world.problem, {}));
  EXPECT_EQ(answer.work_conserving.makespan, Duration(10));
  EXPECT_TRUE(answer.work_conserving.proven);
  EXPECT_EQ(must(best_work_conserving(*world.problem, {})).makespan, Duration(10));
  const ExactPlan any = must(best_schedule(*world.problem, {}));
  EXPECT_EQ(any.makespan, Duration(10));
  EXPECT_EQ(check_plan(*world.problem, any.plan), std::vector<std::string>{});
}

TEST(Exact, NeverReportsMoreThanTheBestPolicyAndStopsAtTheBound) {
  Rng rng(7);
  const World world(random_graph(rng, 40), machine_of(3));
  Duration best_policy = kNever;
  for (const PolicyEntry& entry : policies_to_ask()) {
    const Result<Plan> plan = make_plan(entry, *world.problem, {}, 1);
    if (!plan) continue;
    best_policy =
        std::min(best_policy,
                 must(ScenarioSimulator(*world.problem, SimModel::physical).makespan(*plan, 0)));
  }
  Budget few;
  few.evaluations = 10;
  EXPECT_LE(must(solve_work_conserving(*world.problem, few)).makespan, best_policy);
  // Forty equal ops on two devices: any policy is at the bound of 20, and no step is needed.
  GraphBuilder builder("equal");
  const std::vector<GivenTime> one = {{"", Duration(1)}};
  for (int i = 0; i < 40; ++i) {
    const std::string name = "op" + std::to_string(i);
    builder.add_op({.name = name, .kind = "k", .run_times = one});
  }
  const World equal(std::move(builder).build().value(), "uniform-2");
  few.evaluations = 1;
  const ExactAnswer answer = must(solve_exactly(*equal.problem, few));
  EXPECT_TRUE(answer.work_conserving.proven);
  EXPECT_TRUE(must(Result<ExactPlan>(answer.any)).proven);
  EXPECT_EQ(answer.work_conserving.makespan, Duration(20));
}

TEST(Exact, TakesTheSameStepsForTheSameCount) {
  Rng rng(9);
  const World world(random_graph(rng, 14), machine_of(3));
  Budget budget;
  budget.evaluations = 2000;
  const ExactPlan once = must(best_work_conserving(*world.problem, budget));
  const ExactPlan again = must(best_work_conserving(*world.problem, budget));
  EXPECT_EQ(once.plan.placement, again.plan.placement);
  EXPECT_EQ(once.plan.priority, again.plan.priority);
  EXPECT_EQ(once.proven, again.proven);
}

TEST(Exact, WaitingOnPurposeNeverHurtsAndSometimesHelps) {
  for (uint64_t seed = 0; seed < 12; ++seed) {
    Rng rng = Rng(23).split(seed);
    const World world(random_graph(rng, 5), machine_of(2));
    const ExactPlan exact = must(best_work_conserving(*world.problem, {}));
    const ExactPlan any = must(best_schedule(*world.problem, {}));
    EXPECT_TRUE(any.proven);
    EXPECT_LE(any.makespan, exact.makespan) << "seed " << seed;
    EXPECT_GE(any.makespan, lower_bounds(*world.problem).strongest()) << "seed " << seed;
  }
  // Made for it: a long op that is ready at once keeps the only fast device from the chain that
  // decides. Waiting one nanosecond for the chain is better.
  const World world(graph_from(R"("ops":[
      {"name":"first","kind":"k","run_time_ns":{"a":50,"b":1},"outputs":[{"bytes":1}]},
      {"name":"long","kind":"k","run_time_ns":{"a":20,"b":100},"outputs":[{"bytes":1}]},
      {"name":"then","kind":"k","run_time_ns":{"a":20,"b":100},
       "operands":["first"],"outputs":[{"bytes":1}]},
      {"name":"last","kind":"k","run_time_ns":{"a":100,"b":20},
       "operands":["then"],"outputs":[{"bytes":1}]}])"),
                    machine_of(2));
  const ExactPlan exact = must(best_work_conserving(*world.problem, {}));
  const ExactPlan any = must(best_schedule(*world.problem, {}));
  EXPECT_LT(any.makespan, exact.makespan);
}

TEST(Exact, RefusesContentionWithASentence) {
  const World world(graph_from(R"("ops":[{"name":"a","kind":"k","run_time_ns":1}])"), "p100-4");
  const Result<ExactPlan> exact = best_work_conserving(*world.problem, {});
  ASSERT_FALSE(exact);
  EXPECT_EQ(exact.error().kind, Error::Kind::invalid_input);
}

TEST(Exact, EndsWithTheBudget) {
  Rng rng(5);
  const World world(random_graph(rng, 40), machine_of(3));
  Budget budget;
  budget.wall_clock = std::chrono::milliseconds(50);
  const Result<ExactPlan> exact = best_work_conserving(*world.problem, budget);
  ASSERT_TRUE(exact) << exact.error().message;
  EXPECT_FALSE(exact->proven);
  EXPECT_EQ(exact->plan.placement.size(), 40u);
  EXPECT_FALSE(must(best_schedule(*world.problem, budget)).proven);
}

}  // namespace
}  // namespace tutti
