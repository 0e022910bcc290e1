// OpGroups, the problem they form, and how a placement of them becomes one of ops.

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tutti/graph/make/cholesky.h"
#include "tutti/graph/make/family/family.h"
#include "tutti/graph/make/layered.h"
#include "tutti/policy/coarse/coarse_problem.h"
#include "tutti/policy/coarse/op_groups.h"
#include "tutti/policy/coarse/refine.h"
#include "tutti/policy/testing.h"

namespace tutti {
namespace {

struct Named {
  const char* name;
  Graph graph;
};

std::vector<Named> graphs() {
  std::vector<Named> all;
  all.push_back({"layered", must(make_layered({.ops = 1500}))});
  all.push_back({"stencil", must(make_stencil({.width = 40, .steps = 40}))});
  all.push_back({"fft", must(make_fft({.points = 128}))});
  all.push_back({"random", must(make_random({.ops = 1200}))});
  all.push_back({"fork-join", must(make_fork_join({.stages = 3, .width = 400}))});
  all.push_back({"tree", must(make_tree({.levels = 10}))});
  all.push_back(
      {"out-tree", must(make_tree({.levels = 10, .direction = TreeSpec::Direction::out}))});
  all.push_back({"all-to-all", must(make_all_to_all({.width = 30, .phases = 20}))});
  return all;
}

TEST(OpGroups, ReadOnlyFromLowerNumbers) {
  for (Named& named : graphs()) {
    SCOPED_TRACE(named.name);
    const World world(std::move(named.graph), "p100-4");
    const OpGroups groups = group_ops(*world.problem, {.most = 100, .fewest = 100});
    for (const OpId op : world.graph.ops()) {
      for (const EdgeId edge : world.graph.edges(op)) {
        const OpId producer = world.graph.edge_from(edge);
        if (!producer.valid()) continue;
        ASSERT_LE(groups.of_op[producer.index], groups.of_op[op.index]);
      }
    }
  }
}

TEST(OpGroups, AreAboutAsManyAsWantedAndNoneIsMuchHeavierThanOthers) {
  for (Named& named : graphs()) {
    SCOPED_TRACE(named.name);
    const World world(std::move(named.graph), "p100-4");
    const OpGroups groups = group_ops(*world.problem, {.most = 100, .fewest = 100});
    EXPECT_GE(groups.count, 100);
    EXPECT_LE(groups.count, 300);  // all-to-all: levels stay wide enough for the devices
    std::vector<double> work(static_cast<size_t>(groups.count), 0);
    double all = 0;
    for (const OpId op : world.graph.ops()) {
      work[groups.of_op[op.index]] += world.costs.mean_run_time_ns(op);
      all += world.costs.mean_run_time_ns(op);
    }
    EXPECT_LE(*std::max_element(work.begin(), work.end()), 2 * all / 100);
    EXPECT_GT(*std::min_element(work.begin(), work.end()), 0);  // none is empty
  }
}

TEST(OpGroups, StayManyWhereOpsReadAnyOthers) {
  const World grainy(must(make_stencil({.width = 40, .steps = 40})), "p100-4");
  const World random(must(make_random({.ops = 1600, .degree = 6})), "p100-4");
  const Coarsening coarsening{.most = 400, .fewest = 100};
  EXPECT_EQ(group_ops(*grainy.problem, coarsening).count, 100);
  EXPECT_EQ(group_ops(*random.problem, coarsening).count, 400);
}

TEST(OpGroups, OfAChainAreItsPieces) {
  std::vector<std::string> ops;
  for (int i = 0; i < 64; ++i) {
    const std::vector<std::string> operands = {fmt::format("{}", i - 1)};
    ops.push_back(
        op_json(fmt::format("{}", i), 10, i == 0 ? std::vector<std::string>{} : operands));
  }
  const World world(graph_of_ops(ops), "uniform-2");
  const OpGroups groups = group_ops(*world.problem, {.most = 4, .fewest = 4});
  EXPECT_EQ(groups.count, 4);
  for (int i = 1; i < 64; ++i) {
    const int step =
        groups.of_op[static_cast<size_t>(i)] - groups.of_op[static_cast<size_t>(i - 1)];
    EXPECT_TRUE(step == 0 || step == 1) << "op " << i;
  }
}

TEST(OpGroups, DoNotJoinTheTwoWaysOfADiamondAcrossIt) {
  // Of a -> b -> d, a -> c -> d with a dear edge a -> d, only a and d joined would make a cycle.
  const World world(graph_from(R"("ops":[
      {"name":"a","kind":"k","run_time_ns":1,"outputs":[{"bytes":1000000}]},
      {"name":"b","kind":"k","run_time_ns":1,"operands":["a"]},
      {"name":"c","kind":"k","run_time_ns":1,"operands":["a"]},
      {"name":"d","kind":"k","run_time_ns":1,"operands":["a","b","c"]}])"),
                    "uniform-2");
  const OpGroups groups = group_ops(*world.problem, {.most = 2, .fewest = 2});
  EXPECT_NE(groups.of_op[0], groups.of_op[3]);
}

TEST(OpGroups, AreTheSameInEveryRun) {
  const World world(must(make_layered({.ops = 2000})), "mixed-5");
  EXPECT_EQ(group_ops(*world.problem, {.most = 150, .fewest = 150}).of_op,
            group_ops(*world.problem, {.most = 150, .fewest = 150}).of_op);
}

Constraints some_constraints(const Graph& graph) {
  const auto name = [&](int op) { return std::string(graph.op_name(OpId{op})); };
  Constraints constraints;
  for (int i = 0; i < 200; ++i) constraints.pins.push_back({name(5 * i), {"fast0", "fast1"}});
  constraints.pins.push_back({name(7), {"slow0"}});
  constraints.colocations = {{name(1), name(900), name(1444)}, {name(3), name(4), name(8)}};
  constraints.forbidden.push_back(
      {.op = name(11), .op_kind = "", .device = "", .device_kind = "cpu"});
  return constraints;
}

World constrained_world() {
  Graph graph = must(make_layered({.ops = 1500}));
  const Constraints constraints = some_constraints(graph);
  return World(std::move(graph), must(make_preset("mixed-5")), {}, constraints);
}

TEST(CoarseProblem, AllowsAGroupJustWhatEachOfItsOpsMayUse) {
  const World world = constrained_world();
  const OpGroups groups = group_ops(*world.problem, {.most = 100, .fewest = 100});
  const Problem coarse = must(coarse_problem(*world.problem, groups));
  for (const OpId op : world.graph.ops()) {
    const auto own = world.problem->devices_for(op);
    const auto group = coarse.devices_for(OpId{groups.of_op[op.index]});
    ASSERT_TRUE(std::equal(own.begin(), own.end(), group.begin(), group.end()));
  }
}

TEST(CoarseProblem, KeepsColocatedOpsTogether) {
  const World world = constrained_world();
  const OpGroups groups = group_ops(*world.problem, {.most = 100, .fewest = 100});
  const Problem coarse = must(coarse_problem(*world.problem, groups));
  const auto same_device = [&](int a, int b) {
    const OpId first{groups.of_op[static_cast<size_t>(a)]};
    const OpId second{groups.of_op[static_cast<size_t>(b)]};
    return first == second || (coarse.colocation_group(first) >= 0 &&
                               coarse.colocation_group(first) == coarse.colocation_group(second));
  };
  EXPECT_TRUE(same_device(1, 900));
  EXPECT_TRUE(same_device(1, 1444));
  EXPECT_TRUE(same_device(3, 4));
  EXPECT_TRUE(same_device(3, 8));
  EXPECT_FALSE(same_device(1, 3));
}

TEST(CoarseProblem, AddsUpRunTimesOnEveryDevice) {
  const World world(must(make_cholesky({.tiles = 14})), "mixed-5");
  const OpGroups groups = group_ops(*world.problem, {.most = 60, .fewest = 60});
  const Problem coarse = must(coarse_problem(*world.problem, groups));
  for (const DeviceId device : world.machine.devices()) {
    std::vector<Duration> sum(static_cast<size_t>(groups.count), Duration{0});
    for (const OpId op : world.graph.ops()) {
      sum[groups.of_op[op.index]] += world.costs.run_time(op, device);
    }
    for (const OpId group : coarse.graph.ops()) {
      EXPECT_EQ(coarse.costs.run_time(group, device), sum[group.index]);
    }
  }
}

TEST(CoarseProblem, MovesEveryValueThatLeavesItsGroupOnceToEachReader) {
  const World world(must(make_stencil({.width = 40, .steps = 40})), "p100-4");
  const OpGroups groups = group_ops(*world.problem, {.most = 100, .fewest = 100});
  const Problem coarse = must(coarse_problem(*world.problem, groups));
  std::map<std::pair<int32_t, int32_t>, int64_t> expected;  // bytes by producer and reader
  for (const ValueId value : world.graph.values()) {
    const OpId producer = world.graph.producer(value);
    if (!producer.valid()) continue;
    std::set<int32_t> readers;
    for (const EdgeId edge : world.graph.consumers(value)) {
      readers.insert(groups.of_op[world.graph.edge_to(edge).index]);
    }
    const int32_t from = groups.of_op[producer.index];
    for (const int32_t to : readers) {
      if (to != from) expected[{from, to}] += world.graph.bytes(value);
    }
  }
  const Graph& graph = coarse.graph;
  std::map<std::pair<int32_t, int32_t>, int64_t> found;
  for (const OpId op : graph.ops()) {
    for (const EdgeId edge : graph.edges(op)) {
      const OpId producer = graph.edge_from(edge);
      if (producer.valid()) {
        found[{producer.index, op.index}] += graph.bytes(graph.edge_value(edge));
      }
    }
  }
  EXPECT_EQ(found, expected);
}

TEST(CoarseProblem, KeepsGivenTransferTimes) {
  const World world(
      graph_of_ops({op_json("a", 10), op_json("b", 10, {"a"}, {77}), op_json("c", 10, {"a"}, {33}),
                    op_json("d", 10, {"b", "c"}, {5, 6})}),
      "uniform-2");
  const OpGroups groups{.of_op = {0, 1, 1, 2}, .count = 3};
  const Problem coarse = must(coarse_problem(*world.problem, groups));
  const Graph& graph = coarse.graph;
  ASSERT_EQ(graph.edge_count(), 3);
  const auto time = [&](int edge) {
    return coarse.costs.transfer_time(EdgeId{edge}, DeviceId{0}, DeviceId{1}).count();
  };
  EXPECT_EQ(time(0), 77);  // a's value: by the first of its edges
  EXPECT_EQ(time(1), 5);
  EXPECT_EQ(time(2), 6);
}

TEST(CoarseProblem, HoldsAllBytesThatStayInMemory) {
  const World world(graph_from(R"("inputs":[{"name":"w","bytes":50,"weight":true},
      {"name":"v","bytes":30,"weight":true}],
      "ops":[
      {"name":"a","kind":"k","run_time_ns":1,"operands":["w"],"outputs":[{"bytes":100}]},
      {"name":"b","kind":"k","run_time_ns":1,"operands":["a","v"],"outputs":[{"bytes":10}]},
      {"name":"c","kind":"k","run_time_ns":1,"operands":["a","b"],"outputs":[{"bytes":1}]}])"),
                    "uniform-2");
  const Problem coarse = must(coarse_problem(*world.problem, {.of_op = {0, 0, 1}, .count = 2}));
  const Graph& graph = coarse.graph;
  int64_t weights = 0;
  int64_t made = 0;
  for (const ValueId value : graph.values()) {
    if (graph.producer(value).valid()) {
      made += graph.bytes(value);
    } else if (graph.is_weight(value)) {
      weights += graph.bytes(value);
    }
  }
  EXPECT_EQ(weights, 80);
  EXPECT_EQ(made, 111);  // a's and b's leave together
  EXPECT_EQ(graph.edge_count(), 2);
}

TEST(Refined, LeavesTheSuggestionOnlyForEnough) {
  // Two ops that need not wait for each other: on one device the second ends at 20, else at 10.
  const World world(graph_of_ops({op_json("a", 10), op_json("b", 10)}), "uniform-2");
  const std::vector<DeviceId> suggested(2, DeviceId{0});
  const std::vector<double> key = {2, 1};
  const auto second = [&](double loyalty) {
    return refined(*world.problem, suggested, key, {.loyalty = loyalty})->placement[1];
  };
  EXPECT_EQ(second(0.5), DeviceId{1});
  EXPECT_EQ(second(1), DeviceId{0});
  EXPECT_EQ(second(kNeverLeave), DeviceId{0});
}

TEST(Refined, KeepsColocatedOpsWhereTheyAreSuggested) {
  Constraints constraints;
  constraints.colocations = {{"b", "c"}};
  const World world(graph_of_ops({op_json("a", 10), op_json("b", 10), op_json("c", 10)}),
                    must(make_preset("uniform-2")), {}, constraints);
  const std::optional<Plan> plan =
      refined(*world.problem, std::vector<DeviceId>(3, DeviceId{0}), {3, 2, 1}, {.loyalty = 0});
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(plan->placement, std::vector<DeviceId>(3, DeviceId{0}));
}

}  // namespace
}  // namespace tutti
