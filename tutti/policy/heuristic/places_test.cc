// What each of the planners that think of places is good at.

#include <algorithm>
#include <numeric>
#include <set>

#include "tutti/base/random.h"
#include "tutti/graph/groups.h"
#include "tutti/graph/make/chainmm.h"
#include "tutti/graph/make/layered.h"
#include "tutti/plan/check/check.h"
#include "tutti/policy/places/transport.h"
#include "tutti/policy/testing.h"

namespace tutti {
namespace {

// A chain of ops of 10 ns, each value taking 100 ns to travel.
void add_chain(std::vector<std::string>& ops, const std::string& name, int length) {
  for (int i = 0; i < length; ++i) {
    const std::string op = fmt::format("{}{}", name, i);
    if (i == 0) {
      ops.push_back(op_json(op, 10));
    } else {
      ops.push_back(op_json(op, 10, {fmt::format("{}{}", name, i - 1)}, {100}));
    }
  }
}

World chains(const std::vector<int>& lengths, const char* machine) {
  std::vector<std::string> ops;
  for (size_t i = 0; i < lengths.size(); ++i) {
    add_chain(ops, std::string(1, static_cast<char>('a' + i)), lengths[i]);
  }
  return World(graph_of_ops(ops), machine);
}

TEST(Components, ArePackedTheLongestFirst) {
  const World world = chains({3, 4, 2, 3}, "uniform-2");
  const Plan plan = must(plan_with("components", *world.problem));
  EXPECT_EQ(crossings(world.graph, plan), 0);
  EXPECT_EQ(plan.planned_makespan, Duration(60));
}

TEST(Components, AreSplitWhereDevicesWouldStayIdle) {
  // One part of two branches, which only their sum of 1 ns joins; and a chain.
  std::vector<std::string> ops = {op_json("x", 100), op_json("y", 100),
                                  op_json("sum", 1, {"x", "y"}, {1, 1}), op_json("z", 100)};
  const World world(graph_of_ops(ops), "uniform-3");
  const Plan plan = must(plan_with("components", *world.problem));
  EXPECT_EQ(devices_used(plan), 3u);
  EXPECT_EQ(plan.planned_makespan, Duration(102));
}

TEST(Locality, GoesWhereMostOperandsAre) {
  // x and y are on different devices; z reads both, and x is the larger.
  const World world(
      graph_of_ops({op_json("x", 10), op_json("y", 10), op_json("z", 10, {"x", "y"}, {1000, 10})}),
      "uniform-2");
  const Plan plan = must(plan_with("locality", *world.problem));
  EXPECT_NE(plan.placement[0], plan.placement[1]);
  EXPECT_EQ(plan.placement[2], plan.placement[0]);
}

TEST(Locality, LeavesADeviceThatHasMuchToDo) {
  const World world = chains({4, 4, 4, 4}, "uniform-4");
  const Plan plan = must(plan_with("locality", *world.problem));
  EXPECT_EQ(crossings(world.graph, plan), 0);
  EXPECT_EQ(devices_used(plan), 4u);
}

TEST(GreedyLocator, KeepsTheDearestSiteCheap) {
  // Equal ops spread evenly; their readers stay with their operands, 1000 flops to the byte.
  std::vector<std::string> ops;
  for (int i = 0; i < 4; ++i) {
    ops.push_back(fmt::format(
        R"({{"name":"a{}","kind":"k","flops":1000000,"outputs":[{{"bytes":10000}}]}})", i));
  }
  for (int i = 0; i < 4; ++i) {
    ops.push_back(
        fmt::format(R"({{"name":"b{0}","kind":"k","flops":1000000,"operands":["a{0}"]}})", i));
  }
  const World world(graph_of_ops(ops), "uniform-4");
  const Plan plan = must(plan_with("greedy_locator", *world.problem));
  EXPECT_EQ(devices_used(plan), 4u);
  EXPECT_EQ(crossings(world.graph, plan), 0);
}

// One block of a product: no operands but inputs, 10^6 flops, a result of so many bytes.
std::string product(const std::string& name, int64_t bytes, const std::string& operand = "") {
  return fmt::format(
      R"({{"name":"{}","kind":"k","flops":1000000,"operands":[{}],"outputs":[{{"bytes":{}}}],)"
      R"("attributes":{{"group":"{}"}}}})",
      name, operand.empty() ? "" : fmt::format(R"("{}")", operand), bytes, name.substr(0, 1));
}
std::string sum_of(const std::string& name, const std::vector<std::string>& products) {
  return fmt::format(
      R"({{"name":"{}","kind":"k","flops":1000,"operands":["{}"],"outputs":[{{"bytes":10}}],)"
      R"("attributes":{{"group":"{}"}}}})",
      name, fmt::join(products, R"(",")"), name.substr(0, 1));
}

TEST(GreedyLocator, SplitsABlockWhereItsPartsAreCheapToMove) {
  // Four products of 10^6 flops and their sum. At 10 bytes, 10^4 flops, each they are worth a site
  // each; at 10^4 bytes, 10^7 flops, all stay where they are summed.
  for (const auto& [bytes, sites] : {std::pair<int64_t, size_t>{10, 4}, {10'000, 1}}) {
    const World world(
        graph_of_ops({product("y0", bytes), product("y1", bytes), product("y2", bytes),
                      product("y3", bytes), sum_of("y.sum", {"y0", "y1", "y2", "y3"})}),
        "uniform-4");
    const Plan plan = must(plan_with("greedy_locator", *world.problem));
    EXPECT_EQ(devices_used(plan), sites);
    EXPECT_EQ(plan.provenance.note, "1 blocks of products and their sum");
  }
}

TEST(GreedyLocator, GivesEachBlockOfAShardedProductASiteOfItsOwn) {
  // X of two blocks of rows times W: four blocks, each the sum of two products of 2 x 1000^3 flops,
  // whose 4 MB would be 4 x 10^9 to move. So both products stay with their sum, and the four sums
  // are on four devices. Placed op by op the products would spread first, and most sums fetch one.
  const World world(must(make_chainmm({.size = 2000, .split = {2, 2, 2}, .devices = 4})).graph,
                    "uniform-4");
  const Plan plan = must(plan_with("greedy_locator", *world.problem));
  const Groups groups = groups_of(world.graph);
  const auto first = static_cast<size_t>(groups.of_op[0]);
  EXPECT_EQ(groups.members[first].size(), 12u);
  std::set<DeviceId> sites;
  for (const OpId op : groups.members[first]) {
    sites.insert(plan.placement[op.index]);
    for (const ValueId value : world.graph.operands(op)) {
      const OpId producer = world.graph.producer(value);
      if (!producer.valid()) continue;
      EXPECT_EQ(plan.placement[producer.index], plan.placement[op.index]);
    }
  }
  EXPECT_EQ(sites.size(), 4u);
}

TEST(GreedyLocator, PlacesBlocksOpByOpWhereConstraintsBindTheirOps) {
  const World world(graph_of_ops({product("y0", 10), product("y1", 10), product("y2", 10),
                                  sum_of("y.sum", {"y0", "y1", "y2"})}),
                    must(make_preset("uniform-4")), {}, {.colocations = {{"y0", "y2"}}});
  const Plan plan = must(plan_with("greedy_locator", *world.problem));
  EXPECT_EQ(check_plan(*world.problem, plan), std::vector<std::string>());
  EXPECT_EQ(plan.placement[0], plan.placement[2]);
  EXPECT_EQ(plan.provenance.note, "0 blocks of products and their sum");
}

std::string shard(int number) {
  return fmt::format(R"(,"attributes":{{"shard":"{}"}})", number);
}

TEST(Expert, PutsShardsWhereTheGraphSays) {
  const World world(
      graph_of_ops({op_json("a", 1, {}, {}, shard(1)), op_json("b", 1, {}, {}, shard(0)),
                    op_json("c", 1, {}, {}, shard(5))}),
      "uniform-3");
  const Plan plan = must(plan_with("expert", *world.problem));
  EXPECT_EQ(plan.placement, (std::vector<DeviceId>{DeviceId{1}, DeviceId{0}, DeviceId{2}}));
}

TEST(Expert, ObeysPinsAndRefusesWhereNothingIsSaid) {
  const World pinned(graph_of_ops({op_json("a", 1, {}, {}, shard(1))}),
                     must(make_preset("uniform-3")), {}, {.pins = {{"a", {"device0"}}}});
  EXPECT_EQ(must(plan_with("expert", *pinned.problem)).placement[0], DeviceId{0});
  const World silent(graph_of_ops({op_json("a", 1, {}, {}, shard(1)), op_json("b", 1)}),
                     "uniform-3");
  const Result<Plan> plan = plan_with("expert", *silent.problem);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().kind, Error::Kind::infeasible);
  EXPECT_NE(plan.error().message.find("'shard'"), std::string::npos);
}

std::string group(const char* name) {
  return fmt::format(R"(,"attributes":{{"group":"{}"}})", name);
}

// `count` ops of group x; op i of group y reads op (7 i) mod count of x; then y's sum.
World two_groups(int count, const char* machine) {
  std::vector<std::string> ops;
  std::vector<std::string> all;
  for (int i = 0; i < count; ++i) {
    ops.push_back(op_json(fmt::format("x{}", i), 50, {}, {}, group("x")));
  }
  for (int i = 0; i < count; ++i) {
    const std::string name = fmt::format("y{}", i);
    ops.push_back(op_json(name, 50, {fmt::format("x{}", 7 * i % count)}, {100}, group("y")));
    all.push_back(name);
  }
  ops.push_back(op_json("sum", 5, all, std::vector<int64_t>(all.size(), 10), group("y")));
  return World(graph_of_ops(ops), machine);
}

TEST(Enumerative, DividesEachGroupEvenlyAndMovesLittle) {
  const World world = two_groups(8, "uniform-4");
  const Plan plan = must(plan_with("enumerative", *world.problem));
  std::vector<int> count(4, 0);
  for (int i = 0; i < 8; ++i) ++count[static_cast<size_t>(plan.placement[i].index)];
  EXPECT_EQ(count, (std::vector<int>{2, 2, 2, 2}));
  EXPECT_EQ(crossings(world.graph, plan), 6);  // only to the sum, which is where two are
  EXPECT_EQ(plan.provenance.note,
            "groups by attribute: 2 enumerated, 0 as transportation problems with swaps, "
            "0 one by one");
}

TEST(Enumerative, SolvesLargeGroupsAsTransportationProblems) {
  const World world = two_groups(40, "uniform-4");
  const Plan plan = must(plan_with("enumerative", *world.problem));
  EXPECT_EQ(crossings(world.graph, plan), 30);
  EXPECT_NE(plan.provenance.note.find("2 as transportation problems"), std::string::npos);
}

TEST(Enumerative, StaysEvenOnManyDevices) {
  const World world = two_groups(40, "uniform-40");
  const Plan plan = must(plan_with("enumerative", *world.problem));
  EXPECT_EQ(devices_used(plan), 40u);
  EXPECT_EQ(crossings(world.graph, plan), 39);
}

TEST(Enumerative, GivesSlowDevicesLess) {
  std::vector<std::string> ops;
  for (int i = 0; i < 6; ++i) {
    ops.push_back(fmt::format(R"({{"name":"x{}","kind":"k",)"
                              R"("run_time_ns":{{"fast":10,"slow":50}},)"
                              R"("attributes":{{"group":"x"}}}})",
                              i));
  }
  const World world(graph_of_ops(ops), machine_from(R"({"schema_version":1,"name":"m","device":[
      {"name":"f","kind":"fast"},{"name":"s","kind":"slow"}],
      "link":[{"name":"l","between":["f","s"]}]})"));
  const Plan plan = must(plan_with("enumerative", *world.problem));
  EXPECT_EQ(plan.planned_makespan, Duration(50));  // five and one, or all on the fast one
}

TEST(Transport, FindsTheLeastCost) {
  Rng rng(5);
  for (int round = 0; round < 50; ++round) {
    const std::vector<int> capacity = {1 + static_cast<int>(rng.below(3)),
                                       1 + static_cast<int>(rng.below(3)), 2};
    const size_t items = 4;
    std::vector<int64_t> cost(items * capacity.size());
    for (int64_t& c : cost) c = static_cast<int64_t>(rng.below(20));
    int64_t least = 1'000'000;
    for (int code = 0; code < 81; ++code) {
      std::vector<int> left = capacity;
      int64_t sum = 0;
      for (size_t i = 0, rest = static_cast<size_t>(code); i < items; ++i, rest /= 3) {
        --left[rest % 3];
        sum += cost[i * 3 + rest % 3];
      }
      if (*std::min_element(left.begin(), left.end()) >= 0) least = std::min(least, sum);
    }
    const std::vector<int> place = transport(cost, capacity);
    int64_t found = 0;
    std::vector<int> left = capacity;
    for (size_t i = 0; i < items; ++i) {
      found += cost[i * 3 + static_cast<size_t>(place[i])];
      --left[static_cast<size_t>(place[i])];
    }
    EXPECT_EQ(found, least);
    EXPECT_GE(*std::min_element(left.begin(), left.end()), 0);
  }
}

TEST(MinCut, CutsWhereLeastFlows) {
  if (!find_policy("min_cut")) GTEST_SKIP() << "built without METIS";
  // Two bundles of four chains, listed alternately; within a bundle all feed one op at little cost
  // in work, between the bundles flows 1 ns.
  std::vector<std::string> ops;
  for (int i = 0; i < 8; ++i) {
    ops.push_back(op_json(fmt::format("{}{}", i % 2 == 0 ? "b" : "a", i), 100));
  }
  ops.push_back(op_json("suma", 100, {"a1", "a3", "a5", "a7"}, {100, 100, 100, 100}));
  ops.push_back(op_json("sumb", 100, {"b0", "b2", "b4", "b6", "suma"}, {100, 100, 100, 100, 1}));
  const World world(graph_of_ops(ops), "uniform-2");
  const Plan plan = must(plan_with("min_cut", *world.problem));
  EXPECT_EQ(crossings(world.graph, plan), 1);
  EXPECT_EQ(devices_used(plan), 2u);
}

}  // namespace
}  // namespace tutti
