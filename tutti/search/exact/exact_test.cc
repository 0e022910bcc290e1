// The exact methods against each other, against the simulator, and against `auto`.

#include <gtest/gtest.h>

#include <algorithm>

#include "test/support/world.h"
#include "tutti/graph/builder.h"
#include "tutti/plan/bound.h"
#include "tutti/search/auto.h"
#include "tutti/search/exact/all_schedules.h"
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
    EXPECT_EQ(must(Judge(*world.problem, SimModel::physical).makespan(exact.plan, 0)),
              exact.makespan)
        << "seed " << seed;
    EXPECT_LE(lower_bounds(*world.problem).strongest(), exact.makespan) << "seed " << seed;
    AutoSettings settings;
    settings.budget.evaluations = 5000;
    EXPECT_EQ(must(plan_auto(*world.problem, settings)).makespan, exact.makespan)
        << "seed " << seed;
  }
}

// Every placement under every order of priorities, one simulation each.
Duration by_brute_force(const Problem& problem) {
  Judge judge(problem, SimModel::physical);
  Plan plan;
  const int32_t ops = problem.graph.size();
  const int32_t devices = problem.machine.size();
  plan.placement.assign(static_cast<size_t>(ops), DeviceId{0});
  for (int32_t i = 0; i < ops; ++i) plan.priority.push_back(i);
  Duration best = kNever;
  do {
    int64_t placements = 1;
    for (int32_t i = 0; i < ops; ++i) placements *= devices;
    for (int64_t code = 0; code < placements; ++code) {
      int64_t rest = code;
      for (DeviceId& device : plan.placement) {
        device = DeviceId{static_cast<int32_t>(rest % devices)};
        rest /= devices;
      }
      best = std::min(best, must(judge.makespan(plan, 0)));
    }
  } while (std::next_permutation(plan.priority.begin(), plan.priority.end()));
  return best;
}

// Every order in which ops can be handed to devices, each op as early as that order allows: the
// best schedule of all is among these.
Duration any_by_brute_force(const Problem& problem) {
  const Graph& graph = problem.graph;
  std::vector<OpId> order;
  for (const OpId op : graph.ops()) order.push_back(op);
  Duration best = kNever;
  do {
    std::vector<int32_t> position(order.size());
    for (size_t i = 0; i < order.size(); ++i) position[order[i].index] = static_cast<int32_t>(i);
    bool topological = true;
    for (const OpId op : graph.ops()) {
      for (const EdgeId edge : graph.edges(op)) {
        topological = topological && position[graph.edge_from(edge).index] < position[op.index];
      }
    }
    if (!topological) continue;
    const int32_t devices = problem.machine.size();
    int64_t placements = 1;
    for (size_t i = 0; i < order.size(); ++i) placements *= devices;
    for (int64_t code = 0; code < placements; ++code) {
      std::vector<Duration> free(static_cast<size_t>(devices), Duration{0});
      std::vector<Duration> finish(order.size());
      std::vector<DeviceId> placement(order.size());
      int64_t rest = code;
      Duration makespan{0};
      for (const OpId op : order) {
        const DeviceId device{static_cast<int32_t>(rest % devices)};
        rest /= devices;
        placement[op.index] = device;
        Duration start = free[static_cast<size_t>(device.index)];
        for (const EdgeId edge : graph.edges(op)) {
          const OpId from = graph.edge_from(edge);
          start = std::max(start, finish[from.index] + problem.costs.transfer_time(
                                                           edge, placement[from.index], device));
        }
        finish[op.index] = start + problem.costs.run_time(op, device);
        free[static_cast<size_t>(device.index)] = finish[op.index];
        makespan = std::max(makespan, finish[op.index]);
      }
      best = std::min(best, makespan);
    }
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

// The one reason not to have an answer.
bool without_cbc(const Error& error) {
  return error.message.starts_with("this build has no CBC");
}

TEST(Exact, EqualsBruteForce) {
  for (uint64_t seed = 0; seed < 30; ++seed) {
    Rng rng = Rng(41).split(seed);
    const World world(random_graph(rng, 5), machine_of(2));
    EXPECT_EQ(must(best_work_conserving(*world.problem, {})).makespan,
              by_brute_force(*world.problem))
        << "seed " << seed;
    if (seed >= 10) continue;
    const Result<ExactPlan> any = best_schedule(*world.problem, {});
    if (!any && without_cbc(any.error())) continue;
    ASSERT_TRUE(any) << "seed " << seed << ": " << any.error().message;
    EXPECT_TRUE(any->proven) << "seed " << seed;
    EXPECT_EQ(any->makespan, any_by_brute_force(*world.problem)) << "seed " << seed;
  }
}

TEST(Exact, WaitingOnPurposeNeverHurtsAndSometimesHelps) {
  for (uint64_t seed = 0; seed < 12; ++seed) {
    Rng rng = Rng(23).split(seed);
    const World world(random_graph(rng, 5), machine_of(2));
    const ExactPlan exact = must(best_work_conserving(*world.problem, {}));
    const Result<ExactPlan> any = best_schedule(*world.problem, {});
    if (!any && without_cbc(any.error())) GTEST_SKIP() << any.error().message;
    ASSERT_TRUE(any) << "seed " << seed << ": " << any.error().message;
    EXPECT_TRUE(any->proven);
    EXPECT_LE(any->makespan, exact.makespan) << "seed " << seed;
    EXPECT_GE(any->makespan, lower_bounds(*world.problem).strongest()) << "seed " << seed;
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
  Rng rng(1);
  const World world(random_graph(rng, 3), "p100-4");
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
}

}  // namespace
}  // namespace tutti
