// Forgeries that need a world made for them, and what the judge says of rules that it could not
// apply.

#include <gtest/gtest.h>

#include <set>

#include "tutti/runtime/forgery_testing.h"
#include "tutti/trace/memory.h"
#include "tutti/trace/presence.h"

namespace tutti {
namespace {

using testing::breaks;
using testing::Specimen;
using testing::told;

// Ops 0 to 2 must share a device, and do, on the first.
Specimen colocated_run(uint64_t seed) {
  Rng rng(seed);
  Graph graph = testing::random_graph({.limits = false}, rng);
  Machine machine = testing::random_machine({.limits = false}, rng);
  const auto world = std::make_shared<World>(std::move(graph), std::move(machine), CostSpec{},
                                             Constraints{.colocations = {{"op0", "op1", "op2"}}});
  Plan plan = testing::random_plan(*world->problem, rng);
  plan.strict_order.clear();
  for (size_t i = 0; i < 3; ++i) plan.placement[i] = DeviceId{0};
  SimRuntime runtime;
  Trace trace = must(runtime.run(*world->problem, plan));
  return {"colocated", world, std::move(plan), std::move(trace)};
}

// Moves the op to the second device, in the plan too.
void move(Specimen& one, OpId op) {
  one.plan->placement[static_cast<size_t>(op.index)] = DeviceId{1};
  for (OpSpan& span : one.trace.ops) {
    if (span.op != op) continue;
    span.device = DeviceId{1};
    span.slot = 0;
  }
}

TEST(Forgeries, OfColocationAreRefused) {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    const Specimen genuine = colocated_run(seed);
    EXPECT_TRUE(testing::judge(genuine).good()) << told(testing::judge(genuine));
    for (const std::vector<OpId>& moved :
         {std::vector{OpId{0}}, std::vector{OpId{2}}, std::vector{OpId{1}, OpId{2}}}) {
      Specimen forged = genuine;
      for (const OpId op : moved) move(forged, op);
      EXPECT_TRUE(breaks(testing::judge(forged), "colocation")) << told(testing::judge(forged));
    }
  }
}

// A run that knew no limits, as if it were of a machine whose fullest memory has `limit` bytes.
bool refused_with_limit(const Specimen& one, double share) {
  const Presence presence(one.problem(), one.trace, {});
  const std::vector<MemoryUse> use = memory_use(one.problem(), one.trace, presence);
  int64_t most = 0;
  int32_t fullest = 0;
  for (size_t i = 0; i < use.size(); ++i) {
    const int64_t peak =
        use[i].bytes.empty() ? 0 : *std::max_element(use[i].bytes.begin(), use[i].bytes.end());
    if (peak > most) fullest = static_cast<int32_t>(i);
    most = std::max(most, peak);
  }
  const auto limit = static_cast<int64_t>(share * static_cast<double>(most)) - 1;
  const Problem limited = must(Problem::make(
      one.world->graph, one.world->machine, one.world->costs,
      {.memory_limits = {{one.world->machine.memory(MemoryId{fullest}).name, limit}}}));
  const TraceRules rules = rules_for(one.trace, one.plan ? &*one.plan : nullptr);
  return breaks(judge_trace(limited, one.trace, rules), "memory");
}

TEST(Forgeries, OfMemoryAreRefused) {
  std::set<std::string> runtimes;
  for (const Specimen& genuine : testing::genuine_runs()) {
    const bool has_memory = is_physical(genuine.trace) || is_measured(genuine.trace);
    if (!has_memory || is_of_files(genuine.trace) || genuine.problem().has_memory_limits())
      continue;
    for (const double share : {1.0, 0.75, 0.5}) {
      EXPECT_TRUE(refused_with_limit(genuine, share)) << genuine.name << ", " << share;
    }
    runtimes.insert(to_text(genuine.trace.runtime));
  }
  EXPECT_GE(runtimes.size(), 3u);  // simulated, and real ones
}

// On one device: `long` runs until 100; b is ready at 10 and c at 20, so that both wait for it.
class TwoThatWait : public ::testing::Test {
 protected:
  static Graph make_graph() {
    GraphBuilder builder("two that wait");
    const auto add = [&](const char* name, int64_t ns, const std::vector<ValueId>& operands) {
      const std::vector<ValueSpec> output = {{.bytes = 8}};
      const std::vector<GivenTime> times = {{"", Duration(ns)}};
      const OpId op = builder.add_op({.name = name,
                                      .kind = "work",
                                      .operands = operands,
                                      .outputs = output,
                                      .run_times = times});
      return builder.outputs(op).front();
    };
    add("long", 100, {});
    const ValueId first = add("first", 10, {});
    const ValueId second = add("second", 10, {first});
    add("b", 10, {first});
    add("c", 10, {second});
    return must(std::move(builder).build());
  }

  static constexpr OpId kB{3}, kC{4};

  // A run in which the two go by `order`; the plan wants b first or c.
  Specimen run(ReadyOrder order, OpId wanted_first) const {
    Plan plan;
    plan.placement = {DeviceId{0}, DeviceId{1}, DeviceId{1}, DeviceId{0}, DeviceId{0}};
    plan.priority = {0, 0, 1, wanted_first == kB ? 1 : 2, wanted_first == kC ? 1 : 2};
    SimRuntime runtime(SimModel::physical, {.order = order});
    Trace trace = must(runtime.run(*world_->problem, plan));
    return {"two that wait", world_, std::move(plan), std::move(trace)};
  }

  static std::vector<std::string> rules_broken(const Specimen& one) {
    TraceRules rules = rules_for(one.trace, &*one.plan);
    std::vector<std::string> broken;
    for (const Fault& fault : judge_trace(one.problem(), one.trace, rules).faults) {
      broken.push_back(fault.rule);
    }
    return broken;
  }

  const std::shared_ptr<World> world_ = std::make_shared<World>(make_graph(), testing::cpus(2, 1));
  const std::vector<std::string> order_broken_ = {"ready order"};
};

TEST_F(TwoThatWait, AreGenuineInEveryOrder) {
  for (const ReadyOrder order :
       {ReadyOrder::priority, ReadyOrder::fifo, ReadyOrder::lifo, ReadyOrder::random}) {
    const Specimen genuine = run(order, kB);
    EXPECT_TRUE(testing::judge(genuine).good()) << told(testing::judge(genuine));
  }
}

TEST_F(TwoThatWait, ByFifoMayNotBreakPriorityAndFifoBoth) {
  Specimen forged = run(ReadyOrder::lifo, kB);  // c first, though the plan wants b
  forged.trace.order = ReadyOrder::fifo;
  EXPECT_EQ(rules_broken(forged), order_broken_);
  EXPECT_EQ(
      testing::judge(forged).faults[0].sentence,
      "op 'c', ready at 20 ns, started on 'cpu0' at 100 ns, while 'b', ready at 10 ns, was to "
      "go first by the order 'fifo' and had room");
}

TEST_F(TwoThatWait, ByPriorityGoByThePlan) {
  Specimen forged = run(ReadyOrder::lifo, kB);
  forged.trace.order = ReadyOrder::priority;
  EXPECT_EQ(rules_broken(forged), order_broken_);
  forged = run(ReadyOrder::fifo, kC);
  forged.trace.order = ReadyOrder::priority;
  EXPECT_EQ(rules_broken(forged), order_broken_);
}

TEST_F(TwoThatWait, ByLifoGoByTheLast) {
  Specimen forged = run(ReadyOrder::fifo, kC);
  forged.trace.order = ReadyOrder::lifo;
  EXPECT_EQ(rules_broken(forged), order_broken_);
}

TEST_F(TwoThatWait, AtRandomGoByTheSeed) {
  Specimen forged = run(ReadyOrder::random, kB);
  const auto start = [](const Specimen& one, OpId op) {
    for (const OpSpan& span : one.trace.ops) {
      if (span.op == op) return span.start;
    }
    return Duration{-1};
  };
  const bool b_first = start(forged, kB) < start(forged, kC);
  forged = run(b_first ? ReadyOrder::lifo : ReadyOrder::fifo, kB);
  forged.trace.order = ReadyOrder::random;
  EXPECT_TRUE(breaks(testing::judge(forged), "replay")) << told(testing::judge(forged));
}

// ---- Real runs and what they cost

TEST(Forgeries, OfRealRunsAreHeldToMeasuredCosts) {
  for (const Specimen& genuine : testing::genuine_runs()) {
    if (!is_measured(genuine.trace) || is_of_files(genuine.trace)) continue;
    TraceRules rules = rules_for(genuine.trace, &*genuine.plan);
    rules.doubted = true;
    rules.costs_measured = true;
    EXPECT_TRUE(judge_trace(genuine.problem(), genuine.trace, rules).good());
    // A thousandth of its cost, in which a clock can be read; 20 us become 20 ns.
    Specimen forged = genuine;
    for (OpSpan& span : forged.trace.ops) {
      const Duration cost = forged.problem().costs.run_time(span.op, span.device);
      span.finish = span.start + std::max(cost / 1000, kLeastOpTime);
    }
    forged.trace.makespan = Duration{0};
    for (const OpSpan& span : forged.trace.ops) {
      forged.trace.makespan = std::max(forged.trace.makespan, span.finish);
    }
    EXPECT_TRUE(breaks(judge_trace(forged.problem(), forged.trace, rules), "speed"));
    // With nominal costs that is possible, and said to be no more than that.
    rules.costs_measured = false;
    const Judgement found = judge_trace(forged.problem(), forged.trace, rules);
    EXPECT_FALSE(breaks(found, "speed")) << told(found);
    EXPECT_TRUE(std::any_of(found.not_applied.begin(), found.not_applied.end(),
                            [](const NotApplied& one) { return one.rule == "speed"; }));
  }
}

// ---- Rules that could not be applied

std::set<std::string> not_applied(const Judgement& found) {
  std::set<std::string> rules;
  for (const NotApplied& one : found.not_applied) rules.insert(one.rule);
  return rules;
}

using Rules = std::set<std::string>;

TEST_F(TwoThatWait, LeaveNoRuleOutIfThePlanIsKnown) {
  EXPECT_EQ(not_applied(testing::judge(run(ReadyOrder::priority, kB))), Rules());
  EXPECT_EQ(not_applied(testing::judge(run(ReadyOrder::fifo, kB))), Rules());
  EXPECT_EQ(not_applied(testing::judge(run(ReadyOrder::random, kB))), Rules{"ready order"});
}

TEST_F(TwoThatWait, TellWhatAHeaderSwitchesOff) {
  Specimen one = run(ReadyOrder::priority, kB);
  one.trace.order.reset();
  EXPECT_EQ(not_applied(testing::judge(one)), (Rules{"ready order", "replay"}));
  one = run(ReadyOrder::priority, kB);
  one.plan.reset();
  EXPECT_EQ(not_applied(testing::judge(one)),
            (Rules{"placement", "strict order", "ready order", "replay"}));
  one = run(ReadyOrder::priority, kB);
  one.trace.runtime = runtime_from_text("local");
  EXPECT_EQ(
      not_applied(testing::judge(one)),
      (Rules{"records", "run times", "speed", "transfer times", "channels", "bandwidth", "shares",
             "waiting ops", "waiting hops", "ready order", "unplaced ops", "replay"}));
  one = run(ReadyOrder::priority, kB);
  one.trace.runtime = runtime_from_text("nobody's");
  EXPECT_EQ(not_applied(testing::judge(one)), (Rules{"records", "replay"}));
}

TEST(Forgeries, SwitchNoRuleOffSilently) {
  // Of every genuine run, each rule is applied or named; all that is named is a rule.
  Rules known;
  for (const auto table : {trace_rule_table(), trace_replay_rules()}) {
    for (const Rule& rule : table) known.insert(std::string(rule.name));
  }
  for (const Specimen& genuine : testing::genuine_runs()) {
    const Judgement found = testing::judge(genuine);
    for (const NotApplied& one : found.not_applied) {
      EXPECT_TRUE(known.contains(one.rule)) << one.rule;
      EXPECT_NE(one.reason, "an earlier rule is broken") << genuine.name << one.rule;
      EXPECT_FALSE(one.reason.empty()) << one.rule;
    }
  }
  Specimen broken = testing::genuine_runs().front();
  broken.trace.ops.pop_back();
  const Judgement found = testing::judge(broken);
  EXPECT_GT(found.not_applied.size(), 15u);  // all behind the shape
}

}  // namespace
}  // namespace tutti
