// What each of the list schedulers is good at.

#include <set>
#include <tuple>

#include "tutti/graph/make/layered.h"
#include "tutti/plan/check/check.h"
#include "tutti/plan/draft.h"
#include "tutti/policy/heuristic/etf.h"
#include "tutti/policy/heuristic/favourites.h"
#include "tutti/policy/heuristic/heuristics.h"
#include "tutti/policy/places/subsets.h"
#include "tutti/policy/schedule/link_queues.h"
#include "tutti/policy/schedule/ranks.h"
#include "tutti/policy/schedule/tight_memory.h"
#include "tutti/policy/testing.h"

namespace tutti {
namespace {

TEST(RoundRobin, TakesOneDeviceAfterTheOther) {
  const World world(graph_of_ops({op_json("a", 1), op_json("b", 9), op_json("c", 1),
                                  op_json("d", 1), op_json("e", 1)}),
                    "uniform-3");
  const Plan plan = must(plan_with("round_robin", *world.problem));
  EXPECT_EQ(plan.placement, (std::vector<DeviceId>{DeviceId{0}, DeviceId{1}, DeviceId{2},
                                                   DeviceId{0}, DeviceId{1}}));
}

TEST(Peft, AcceptsALaterFinishThatPaysFurtherOn) {
  // a is quicker on x, but b only on y, and what a makes takes 50 to get there.
  const World world(graph_from(R"("ops":[
      {"name":"a","kind":"k","run_time_ns":{"x":10,"y":12}},
      {"name":"b","kind":"k","run_time_ns":{"x":100,"y":10},"operands":["a"],
       "transfer_time_ns":[50]}])"),
                    machine_from(R"({"schema_version":1,"name":"m","device":[
      {"name":"x","kind":"x"},{"name":"y","kind":"y"}],
      "link":[{"name":"l","between":["x","y"]}]})"));
  EXPECT_EQ(optimistic_costs(*world.problem), (std::vector<double>{60, 10, 0, 0}));
  EXPECT_EQ(must(plan_with("heft", *world.problem)).planned_makespan, Duration(70));
  EXPECT_EQ(must(plan_with("peft", *world.problem)).planned_makespan, Duration(22));
}

// The paper's own way: look at every pair in every step.
Plan every_pair_in_every_step(const Problem& problem) {
  const std::vector<double> rank = upward_ranks(problem, EdgeWeight::distinct_pairs);
  Draft draft(problem);
  while (!draft.complete()) {
    using Pair = std::tuple<Duration, double, Duration, OpId, DeviceId>;
    Pair best{kNever, 0, kNever, OpId{}, DeviceId{}};
    for (const OpId op : draft.ready()) {
      for (const DeviceId device : problem.devices_for(op)) {
        const Duration start = draft.earliest_start(op, device);
        const Duration finish = start + problem.costs.run_time(op, device);
        best = std::min(best, Pair{start, -rank[op.index], finish, op, device});
      }
    }
    draft.apply(std::get<OpId>(best), std::get<DeviceId>(best));
  }
  return draft.to_plan();
}

TEST(Etf, FindsTheEarliestPairWithoutLookingAtAll) {
  for (const char* machine : {"uniform-4", "mixed-5", "cluster-2x4"}) {
    const World world(must(make_layered({.ops = 300, .width = 13, .bytes = 1 << 22})), machine);
    const Plan plan = must(plan_with("etf", *world.problem));
    const Plan plain = every_pair_in_every_step(*world.problem);
    EXPECT_EQ(plan.placement, plain.placement) << machine;
    EXPECT_EQ(plan.start, plain.start) << machine;
  }
}

TEST(MSct, KeepsADeviceFreeForTheFavouriteChild) {
  // b follows a, whose value is slow to travel, but must wait for g until 16. ETF sees a gap and
  // lets y in at 12, so that b ends at 102. With d0 kept free for b, y goes to d1, and all ends at
  // 66.
  const World world(
      graph_of_ops({op_json("a", 10), op_json("q", 5), op_json("g", 9, {"q"}, {7}),
                    op_json("y", 40, {"q"}, {7}), op_json("b", 50, {"a", "g"}, {100, 2})}),
      "uniform-2");
  const std::vector<OpId> favourite = favourite_children(*world.problem).of_op;
  EXPECT_EQ(favourite[0], OpId{4});
  EXPECT_EQ(favourite[1], OpId{2});
  EXPECT_FALSE(favourite[2].valid());
  EXPECT_EQ(must(plan_with("m_etf", *world.problem)).planned_makespan, Duration(102));
  EXPECT_EQ(must(plan_with("m_sct", *world.problem)).planned_makespan, Duration(66));
}

TEST(MSct, WeighsWaysAgainstEachOtherWhenItChoosesFavourites) {
  // a feeds b and c, d reads both. The longest path, 140, goes through b, so greedily b is a's
  // favourite and d is b's: that way shrinks to 60, more than it needs, and the one through c keeps
  // its 120. The linear program lets c follow a instead: the ways are then 80 and 90.
  const World world(
      graph_of_ops({op_json("a", 10), op_json("b", 40, {"a"}, {20}), op_json("c", 20, {"a"}, {30}),
                    op_json("d", 10, {"b", "c"}, {60, 50})}),
      "uniform-2");
  const OpId none{};
  EXPECT_EQ(greedy_favourites(*world.problem), (std::vector<OpId>{OpId{1}, OpId{3}, none, none}));
  const Favourites favourites = favourite_children(*world.problem);
  if (favourites.method != "favourites by linear program") GTEST_SKIP() << favourites.method;
  EXPECT_EQ(favourites.of_op, (std::vector<OpId>{OpId{2}, OpId{3}, none, none}));
  const Plan greedy = must(earliest_task_first(
      *world.problem, {.memory = true, .favourite = greedy_favourites(*world.problem)}));
  EXPECT_EQ(greedy.planned_makespan, Duration(120));
  const Plan plan = must(plan_with("m_sct", *world.problem));
  EXPECT_EQ(plan.planned_makespan, Duration(80));
  EXPECT_EQ(plan.provenance.note, favourites.method);
}

TEST(MSct, GivesEachOpAtMostOneFavouriteAndEachFavouriteOneOp) {
  // Once with the linear program and once too large for it.
  for (const int ops : {150, 900}) {
    const World world(must(make_layered({.ops = ops, .width = 9, .bytes = 1 << 22})), "mixed-5");
    const Favourites favourites = favourite_children(*world.problem);
    EXPECT_EQ(favourites.method.find("greedily") != std::string::npos, ops == 900);
    EXPECT_EQ(favourites.of_op, favourite_children(*world.problem).of_op);
    std::set<OpId> seen;
    for (const OpId op : world.graph.ops()) {
      const OpId favourite = favourites.of_op[static_cast<size_t>(op.index)];
      if (!favourite.valid()) continue;
      EXPECT_TRUE(seen.insert(favourite).second);
      bool reads = false;
      for (const EdgeId edge : world.graph.edges(favourite)) {
        reads = reads || world.graph.edge_from(edge) == op;
      }
      EXPECT_TRUE(reads);
    }
    EXPECT_FALSE(seen.empty());
  }
}

// Two ops with a weight of 100 bytes each, both much quicker on the fast device.
World two_weights(int64_t device_bytes) {
  return World(graph_from(R"("inputs":[{"name":"w1","bytes":100,"weight":true},
      {"name":"w2","bytes":100,"weight":true}],
      "ops":[{"name":"a","kind":"k","operands":["w1"],"run_time_ns":{"fast":1,"slow":100}},
             {"name":"b","kind":"k","operands":["w2"],"run_time_ns":{"fast":1,"slow":100}}])"),
               machine_from(fmt::format(R"({{"schema_version":1,"name":"m","device":[
      {{"name":"f","kind":"fast","memory_bytes":{0}}},
      {{"name":"s","kind":"slow","memory_bytes":{0}}}],
      "link":[{{"name":"l","between":["f","s"]}}]}})",
                                        device_bytes)));
}

TEST(MemoryAware, PoliciesPlanWhereHeftMustRefuse) {
  const World world = two_weights(150);
  EXPECT_FALSE(plan_with("heft", *world.problem));
  for (const char* policy : {"m_etf", "m_sct", "contention_eft", "best_subset"}) {
    const Result<Plan> plan = plan_with(policy, *world.problem);
    ASSERT_TRUE(plan) << policy << ": " << plan.error().message;
    EXPECT_EQ(check_plan(*world.problem, *plan), std::vector<std::string>()) << policy;
  }
}

TEST(MemoryAware, PoliciesSayWhichDeviceLacksHowManyBytes) {
  const World world = two_weights(80);
  for (const char* policy : {"m_etf", "m_sct", "contention_eft", "round_robin"}) {
    const Result<Plan> plan = plan_with(policy, *world.problem);
    ASSERT_FALSE(plan) << policy;
    EXPECT_EQ(plan.error().kind, Error::Kind::infeasible);
    EXPECT_NE(plan.error().message.find("'f', holds 80 B, 20 bytes too few"), std::string::npos)
        << plan.error().message;
  }
}

TEST(MemoryAware, PoliciesFinishWhatIsStartedWhenMemoryIsTight) {
  // Five pairs: a makes 100 bytes, b reads them. A device holds 250, so that making all first, as
  // the longest path to the end would have it, ends at a wall.
  std::vector<std::string> ops;
  for (int i = 0; i < 5; ++i) {
    ops.push_back(op_json(fmt::format("a{}", i), 10, {}, {}, R"(,"outputs":[{"bytes":100}])"));
  }
  for (int i = 0; i < 5; ++i) {
    ops.push_back(op_json(fmt::format("b{}", i), 5, {fmt::format("a{}", i)}));
  }
  const World world(graph_of_ops(ops), machine_from(R"({"schema_version":1,"name":"m","device":[
      {"name":"d","kind":"d","memory_bytes":250}]})"));
  for (const char* policy : {"m_etf", "m_sct", "contention_eft"}) {
    const Result<Plan> plan = plan_with(policy, *world.problem);
    ASSERT_TRUE(plan) << policy << ": " << plan.error().message;
    EXPECT_EQ(plan->planned_makespan, Duration(75)) << policy;
  }
}

TEST(MSct, KeepsTheMemoryLimitThatItsFavouritesWouldPass) {
  // Each b wants to follow its a, whose 100 bytes are slow to travel, and needs 200 more to work;
  // but x holds 250 bytes and only y holds 400.
  const World world(graph_of_ops({op_json("a", 10, {}, {}, R"(,"outputs":[{"bytes":100}])"),
                                  op_json("b", 10, {"a"}, {500}, R"(,"outputs":[{"bytes":200}])")}),
                    machine_from(R"({"schema_version":1,"name":"m","device":[
      {"name":"x","kind":"d","memory_bytes":250},{"name":"y","kind":"d","memory_bytes":400}],
      "link":[{"name":"l","between":["x","y"]}]})"));
  EXPECT_EQ(favourite_children(*world.problem).of_op[0], OpId{1});
  const Plan plan = must(plan_with("m_sct", *world.problem));
  EXPECT_EQ(plan.placement[1], DeviceId{1});
  EXPECT_EQ(check_plan(*world.problem, plan), std::vector<std::string>());
  EXPECT_EQ(bytes_over_in_rehearsal(*world.problem, plan), 0);
}

TEST(MemoryAware, PlansAreRehearsedWithValuesSentAhead) {
  // a makes 100 bytes for b and c, which run one after the other on the second device; until c has
  // run the copy stays there beside what b and c make.
  const World world(graph_of_ops({op_json("a", 10, {}, {}, R"(,"outputs":[{"bytes":100}])"),
                                  op_json("b", 10, {"a"}, {}, R"(,"outputs":[{"bytes":30}])"),
                                  op_json("c", 10, {"a"}, {}, R"(,"outputs":[{"bytes":30}])")}),
                    machine_from(R"({"schema_version":1,"name":"m","device":[
      {"name":"x","kind":"d","memory_bytes":150},{"name":"y","kind":"d","memory_bytes":150}],
      "link":[{"name":"l","between":["x","y"]}]})"));
  Plan plan;
  plan.placement = {DeviceId{0}, DeviceId{1}, DeviceId{1}};
  plan.start = {Duration(0), Duration(10), Duration(20)};
  plan.finish = {Duration(10), Duration(20), Duration(30)};
  EXPECT_EQ(bytes_over_in_rehearsal(*world.problem, plan), 10);
  plan.placement[2] = DeviceId{0};
  EXPECT_EQ(bytes_over_in_rehearsal(*world.problem, plan), 0);
}

// One op makes eight values of 100 MB, each read by an op of 5 ms; one takes 8.7 ms to travel.
World fan_of_large_values() {
  std::string outputs;
  std::vector<std::string> ops(1);
  for (int i = 0; i < 8; ++i) {
    const std::string name = fmt::format("v{}", i);
    outputs += fmt::format(R"({}{{"name":"{}","bytes":100000000}})", i > 0 ? "," : "", name);
    ops.push_back(op_json(fmt::format("r{}", i), 5'000'000, {name}));
  }
  ops[0] = op_json("a", 1'000'000, {}, {}, R"(,"outputs":[)" + outputs + "]");
  return World(graph_of_ops(ops), "p100-4");
}

TEST(ContentionEft, SeesThatTransfersQueueForTheirLinks) {
  const World world = fan_of_large_values();
  const Plan heft = must(plan_with("heft", *world.problem));
  const Plan aware = must(plan_with("contention_eft", *world.problem));
  EXPECT_LT(heft.planned_makespan, estimate(*world.problem, heft));  // it hopes for too much
  EXPECT_LT(aware.planned_makespan, estimate(*world.problem, heft));
}

TEST(ContentionEft, BreaksTiesWithTheSeed) {
  const World world(must(make_layered({.ops = 60, .width = 12})), "uniform-4");
  EXPECT_NE(must(plan_with("contention_eft", *world.problem, 1)).placement,
            must(plan_with("contention_eft", *world.problem, 2)).placement);
}

TEST(LinkQueues, LetTransfersWaitForEachOtherAndFillGaps) {
  // 1 byte/ns each way.
  const Machine machine = machine_from(R"({"schema_version":1,"name":"m","device":[
      {"name":"x","kind":"d"},{"name":"y","kind":"d"}],
      "link":[{"name":"l","between":["x","y"],"bandwidth_bytes_per_s":1e9}]})");
  const Route& there =
      *machine.route(machine.memory_of(DeviceId{0}), machine.memory_of(DeviceId{1}));
  const Route& back =
      *machine.route(machine.memory_of(DeviceId{1}), machine.memory_of(DeviceId{0}));
  LinkQueues links(machine);
  EXPECT_EQ(links.book(there, 10, Duration(20)), Duration(30));
  EXPECT_EQ(links.attempt(there, 10, Duration(25)), Duration(40));
  EXPECT_EQ(links.attempt(there, 10, Duration(25)), Duration(50));
  links.begin_attempts();
  EXPECT_EQ(links.attempt(there, 10, Duration(25)), Duration(40));
  EXPECT_EQ(links.book(there, 15, Duration(2)), Duration(17));  // before what was booked first
  EXPECT_EQ(links.book(there, 15, Duration(2)), Duration(45));
  EXPECT_EQ(links.book(back, 10, Duration(20)), Duration(30));  // the other way is free
}

TEST(LinkQueues, DivideSharedBandwidth) {
  // Two senders and two receivers at 1 byte/ns each over a switch of 1 byte/ns for all.
  const Machine machine = machine_from(R"({"schema_version":1,"name":"m","device":[
      {"name":"a","kind":"d"},{"name":"b","kind":"d"},{"name":"c","kind":"d"},{"name":"d","kind":"d"}],
      "switch":[{"name":"s","bandwidth_bytes_per_s":1e9}],
      "link":[{"name":"as","between":["a","s"],"bandwidth_bytes_per_s":1e9},
              {"name":"bs","between":["b","s"],"bandwidth_bytes_per_s":1e9},
              {"name":"cs","between":["c","s"],"bandwidth_bytes_per_s":1e9},
              {"name":"ds","between":["d","s"],"bandwidth_bytes_per_s":1e9}]})");
  const auto route = [&](int from, int to) -> const Route& {
    return *machine.route(machine.memory_of(DeviceId{from}), machine.memory_of(DeviceId{to}));
  };
  LinkQueues links(machine);
  EXPECT_EQ(links.book(route(0, 2), 10, Duration(0)), Duration(10));
  EXPECT_EQ(links.book(route(1, 3), 10, Duration(0)), Duration(20));  // both done as late as shared
}

TEST(BestSubset, LeavesFarDevicesAlone) {
  // Values of 64 MiB take 23 ms between the hosts and 6 ms within one; an op takes 1 ms.
  const World world(must(make_layered({.ops = 64, .width = 8, .bytes = 64 << 20, .flops = 1e10})),
                    "cluster-2x4");
  const Plan subset = must(plan_with("best_subset", *world.problem));
  const Plan all = must(plan_with("contention_eft", *world.problem));
  EXPECT_LT(subset.planned_makespan, all.planned_makespan);
  EXPECT_LT(devices_used(subset), devices_used(all));
}

TEST(SubMachines, AreHostsAndTheFirstDevices) {
  const World world(must(make_layered({.ops = 64, .width = 8, .bytes = 64 << 20})), "cluster-2x4");
  const auto parts = sub_machines(*world.problem);
  const auto has = [&](const std::vector<DeviceId>& part) {
    return std::find(parts.begin(), parts.end(), part) != parts.end();
  };
  EXPECT_TRUE(has({DeviceId{0}, DeviceId{1}, DeviceId{2}, DeviceId{3}}));
  // The other host is the same again, and all devices are no part.
  EXPECT_FALSE(has({DeviceId{4}, DeviceId{5}, DeviceId{6}, DeviceId{7}}));
  EXPECT_TRUE(has({DeviceId{0}}));
  EXPECT_TRUE(has({DeviceId{0}, DeviceId{1}}));
  for (const auto& part : parts) EXPECT_LT(part.size(), 8u);
}

TEST(SubMachines, HaveNoOtherDevicesToPlanFor) {
  const World world(must(make_layered({.ops = 64, .width = 8, .bytes = 64 << 20})), "cluster-2x4");
  const std::vector<DeviceId> host{DeviceId{0}, DeviceId{1}, DeviceId{2}, DeviceId{3}};
  const Problem part = world.problem->within(host);
  std::vector<DeviceId> devices = devices_by_speed_and_closeness(part, device_speeds(part));
  std::sort(devices.begin(), devices.end());
  EXPECT_EQ(devices, host);
}

TEST(SubMachines, OfEqualLookAreAllListedIfAPinTellsThemApart) {
  const Graph graph = must(make_layered({.ops = 64, .width = 8, .bytes = 64 << 20}));
  const Machine machine = must(make_preset("cluster-2x4"));
  Constraints constraints;
  constraints.pins.push_back(
      {std::string(graph.op_name(OpId{0})), {machine.device(DeviceId{5}).name}});
  const World world(graph, machine, {}, constraints);
  const auto parts = sub_machines(*world.problem);
  const std::vector<DeviceId> second{DeviceId{4}, DeviceId{5}, DeviceId{6}, DeviceId{7}};
  EXPECT_NE(std::find(parts.begin(), parts.end(), second), parts.end());
  // Within the first host the pinned op keeps its device.
  const Problem first = world.problem->within(parts[0]);
  EXPECT_EQ(first.devices_for(OpId{0}).size(), 1u);
  EXPECT_EQ(first.devices_for(OpId{0})[0], DeviceId{5});
  EXPECT_EQ(first.devices_for(OpId{1}).size(), parts[0].size());
}

}  // namespace
}  // namespace tutti
