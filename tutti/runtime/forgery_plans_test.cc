// Every rule of the judge of plans against at least three forgeries of good plans, each refused by
// that rule.

#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "tutti/runtime/forgery_testing.h"
#include "tutti/runtime/sim/passes.h"

namespace tutti {
namespace {

// A good plan with the timeline of its own simulation, in a world of its own.
struct GoodPlan {
  std::shared_ptr<const World> world;
  Plan plan;

  const Problem& problem() const { return *world->problem; }
};

Judgement judge(const GoodPlan& one) {
  Judgement found = judge_plan(one.problem(), one.plan, /*limit=*/1000);
  return found.good() ? replay_plan(one.problem(), one.plan) : found;
}

// Ops 0 to 2 share the first device, ops 3 and 4 may use no other. Every other plan has an order.
GoodPlan make_plan(uint64_t seed) {
  Rng rng = Rng(5).split(seed);
  Graph graph = testing::random_graph({.limits = false}, rng);
  Machine machine = testing::random_machine({.limits = false}, rng);
  const std::string first = machine.device(DeviceId{0}).name;
  const auto world =
      std::make_shared<World>(std::move(graph), std::move(machine), CostSpec{},
                              Constraints{.colocations = {{"op0", "op1", "op2"}},
                                          .pins = {{"op3", {first}}, {"op4", {first}}}});
  const Problem& problem = *world->problem;
  Plan plan = testing::random_plan(problem, rng);
  for (size_t i = 0; i < 5; ++i) plan.placement[i] = DeviceId{0};
  plan.strict_order.clear();
  if (seed % 2 == 0) {
    plan.strict_order.resize(static_cast<size_t>(problem.machine.size()));
    for (const OpId op : problem.graph.topological_order()) {
      const DeviceId device = plan.placement[static_cast<size_t>(op.index)];
      plan.strict_order[static_cast<size_t>(device.index)].push_back(op);
    }
  }
  SimRuntime runtime;
  const Trace trace = must(runtime.run(problem, plan));
  plan.start.resize(plan.placement.size());
  plan.finish.resize(plan.placement.size());
  for (const OpSpan& span : trace.ops) {
    plan.start[static_cast<size_t>(span.op.index)] = span.start;
    plan.finish[static_cast<size_t>(span.op.index)] = span.finish;
  }
  plan.planned_makespan = trace.makespan;
  plan.simulated = true;
  plan.provenance.graph_fingerprint = problem.graph.fingerprint();
  return {world, std::move(plan)};
}

using ForgePlan = std::function<bool(GoodPlan&)>;

struct PlanForgery {
  const char* rule;
  const char* what;
  ForgePlan forge;
};

DeviceId other_device(const GoodPlan& one, size_t op) {
  return DeviceId{(one.plan.placement[op].index + 1) % one.problem().machine.size()};
}

bool place_elsewhere(GoodPlan& one, size_t op) {
  one.plan.placement[op] = other_device(one, op);
  one.plan.strict_order.clear();
  return true;
}

// The first op that starts late enough to be forged, and takes some time.
size_t find_late(const GoodPlan& one) {
  for (size_t i = 0; i < one.plan.start.size(); ++i) {
    if (one.plan.start[i] > Duration{2} && one.plan.finish[i] > one.plan.start[i]) return i;
  }
  return one.plan.start.size();
}

bool shift_one(GoodPlan& one, size_t op, Duration by) {
  if (op >= one.plan.start.size()) return false;
  one.plan.start[op] += by;
  one.plan.finish[op] += by;
  return true;
}

// Some op that starts `by` later or earlier, though no rule but the simulator's tells: it waits for
// links that others use.
bool shift_unseen(GoodPlan& one, Duration by) {
  for (size_t op = 0; op < one.plan.start.size(); ++op) {
    GoodPlan tried = one;
    shift_one(tried, op, by);
    Duration end{0};
    for (const Duration finish : tried.plan.finish) end = std::max(end, finish);
    tried.plan.planned_makespan = end;
    if (!check_plan(tried.problem(), tried.plan).empty()) continue;
    one = tried;
    return true;
  }
  return false;
}

const std::vector<PlanForgery>& decision_forgeries() {
  static const std::vector<PlanForgery> all = {
      {"shape", "of another graph",
       [](GoodPlan& one) { return ++one.plan.provenance.graph_fingerprint, true; }},
      {"shape", "an op without a device",
       [](GoodPlan& one) { return one.plan.placement[0] = DeviceId{}, true; }},
      {"shape", "a device that is not there",
       [](GoodPlan& one) {
         one.plan.placement[0] = DeviceId{one.problem().machine.size()};
         return true;
       }},
      {"shape", "a priority too few",
       [](GoodPlan& one) { return one.plan.priority.pop_back(), true; }},
      {"shape", "half a timeline", [](GoodPlan& one) { return one.plan.finish.pop_back(), true; }},
      {"placement", "a pinned op elsewhere", [](GoodPlan& one) { return place_elsewhere(one, 3); }},
      {"placement", "another pinned op elsewhere",
       [](GoodPlan& one) { return place_elsewhere(one, 4); }},
      {"placement", "both elsewhere",
       [](GoodPlan& one) { return place_elsewhere(one, 3) && place_elsewhere(one, 4); }},
      {"colocation", "the first of the group elsewhere",
       [](GoodPlan& one) { return place_elsewhere(one, 0); }},
      {"colocation", "the last of the group elsewhere",
       [](GoodPlan& one) { return place_elsewhere(one, 2); }},
      {"colocation", "two of the group elsewhere",
       [](GoodPlan& one) { return place_elsewhere(one, 1) && place_elsewhere(one, 2); }},
      {"strict order", "an op twice",
       [](GoodPlan& one) {
         if (one.plan.strict_order.empty()) return false;
         return one.plan.strict_order[0].push_back(one.plan.strict_order[0][0]), true;
       }},
      {"strict order", "an op left out",
       [](GoodPlan& one) {
         if (one.plan.strict_order.empty()) return false;
         return one.plan.strict_order[0].pop_back(), true;
       }},
      {"strict order", "an op of another device",
       [](GoodPlan& one) {
         if (one.plan.strict_order.empty()) return false;
         one.plan.strict_order[1].push_back(one.plan.strict_order[0].back());
         one.plan.strict_order[0].pop_back();
         return true;
       }},
      {"strict order", "an op before what it reads",
       [](GoodPlan& one) {
         if (one.plan.strict_order.empty()) return false;
         const Graph& graph = one.problem().graph;
         for (const OpId op : graph.ops()) {
           for (const EdgeId edge : graph.edges(op)) {
             const OpId producer = graph.edge_from(edge);
             if (!producer.valid()) continue;
             const DeviceId device = one.plan.placement[static_cast<size_t>(op.index)];
             if (one.plan.placement[static_cast<size_t>(producer.index)] != device) continue;
             auto& order = one.plan.strict_order[static_cast<size_t>(device.index)];
             std::iter_swap(std::find(order.begin(), order.end(), op),
                            std::find(order.begin(), order.end(), producer));
             return true;
           }
         }
         return false;
       }},
  };
  return all;
}

const std::vector<PlanForgery>& timeline_forgeries() {
  static const std::vector<PlanForgery> all = {
      {"run times", "a nanosecond more",
       [](GoodPlan& one) { return one.plan.finish[0] += Duration{1}, true; }},
      {"run times", "cut to nothing",
       [](GoodPlan& one) {
         const size_t op = find_late(one);
         if (op == one.plan.start.size()) return false;
         return one.plan.finish[op] = one.plan.start[op], true;
       }},
      {"run times", "begun before the run",
       [](GoodPlan& one) { return shift_one(one, 0, Duration{-1} - one.plan.start[0]); }},
      {"operands", "read before it is made",
       [](GoodPlan& one) {
         const Graph& graph = one.problem().graph;
         for (const OpId op : graph.ops()) {
           for (const EdgeId edge : graph.edges(op)) {
             const OpId producer = graph.edge_from(edge);
             if (!producer.valid()) continue;
             const Duration made = one.plan.finish[static_cast<size_t>(producer.index)];
             if (made < Duration{2}) continue;
             const auto reader = static_cast<size_t>(op.index);
             return shift_one(one, reader, made - Duration{1} - one.plan.start[reader]);
           }
         }
         return false;
       }},
      {"operands", "all at once",
       [](GoodPlan& one) {
         const Graph& graph = one.problem().graph;
         bool any = false;
         for (const OpId op : graph.ops()) {
           for (const EdgeId edge : graph.edges(op)) {
             const OpId producer = graph.edge_from(edge);
             if (!producer.valid()) continue;
             const auto maker = static_cast<size_t>(producer.index);
             any = any || one.plan.finish[maker] > one.plan.start[maker];
           }
         }
         if (!any) return false;
         for (size_t i = 0; i < one.plan.start.size(); ++i) {
           shift_one(one, i, -one.plan.start[i]);
         }
         return true;
       }},
      {"operands", "read before it can have been sent",
       [](GoodPlan& one) {
         const Graph& graph = one.problem().graph;
         for (const OpId op : graph.ops()) {
           for (const EdgeId edge : graph.edges(op)) {
             const OpId producer = graph.edge_from(edge);
             if (!producer.valid()) continue;
             const auto reader = static_cast<size_t>(op.index);
             const auto maker = static_cast<size_t>(producer.index);
             const Duration sent = one.problem().costs.transfer_time(
                 edge, one.plan.placement[maker], one.plan.placement[reader]);
             if (sent <= Duration{1}) continue;
             const Duration start = one.plan.finish[maker] + sent - Duration{1};
             return shift_one(one, reader, start - one.plan.start[reader]);
           }
         }
         return false;
       }},
      {"slots", "all ops of a device at once",
       [](GoodPlan& one) {
         for (const DeviceId device : one.problem().machine.devices()) {
           int together = 0;
           Duration last{0};
           for (const Duration start : one.plan.start) last = std::max(last, start);
           for (size_t i = 0; i < one.plan.start.size(); ++i) {
             if (one.plan.placement[i] != device) continue;
             if (one.plan.finish[i] > one.plan.start[i]) ++together;
             shift_one(one, i, last - one.plan.start[i]);
           }
           if (together > one.problem().machine.device(device).slots) return true;
         }
         return false;
       }},
      {"slots", "one op beside the others",
       [](GoodPlan& one) {
         // An op of a device of one slot, at the time of another.
         for (size_t a = 0; a < one.plan.start.size(); ++a) {
           const Device& device = one.problem().machine.device(one.plan.placement[a]);
           if (device.slots != 1 || one.plan.finish[a] == one.plan.start[a]) continue;
           for (size_t b = 0; b < one.plan.start.size(); ++b) {
             const bool same = one.plan.placement[a] == one.plan.placement[b];
             if (a == b || !same || one.plan.finish[b] == one.plan.start[b]) continue;
             return shift_one(one, a, one.plan.start[b] - one.plan.start[a]);
           }
         }
         return false;
       }},
      {"slots", "one op a nanosecond into the next",
       [](GoodPlan& one) {
         for (size_t a = 0; a < one.plan.start.size(); ++a) {
           const Device& device = one.problem().machine.device(one.plan.placement[a]);
           if (device.slots != 1 || one.plan.finish[a] == one.plan.start[a]) continue;
           for (size_t b = 0; b < one.plan.start.size(); ++b) {
             const bool next = one.plan.placement[a] == one.plan.placement[b] &&
                               one.plan.start[b] >= one.plan.finish[a] &&
                               one.plan.finish[b] > one.plan.start[b];
             if (a == b || !next) continue;
             return shift_one(one, a, one.plan.start[b] + Duration{1} - one.plan.finish[a]);
           }
         }
         return false;
       }},
      {"makespan", "a nanosecond less",
       [](GoodPlan& one) {
         return one.plan.planned_makespan = one.plan.finish[0] - Duration{1}, true;
       }},
      {"makespan", "a day",
       [](GoodPlan& one) { return one.plan.planned_makespan = std::chrono::hours(24), true; }},
      {"makespan", "nothing",
       [](GoodPlan& one) { return one.plan.planned_makespan = Duration{0}, true; }},
      {"timeline", "a nanosecond early, where links are shared",
       [](GoodPlan& one) { return shift_unseen(one, Duration{-1}); }},
      {"timeline", "a nanosecond late",
       [](GoodPlan& one) { return shift_unseen(one, Duration{1}); }},
      {"timeline", "a microsecond late",
       [](GoodPlan& one) { return shift_unseen(one, Duration{1000}); }},
  };
  return all;
}

void try_plan_forgery(const PlanForgery& forgery) {
  int fitted = 0;
  for (uint64_t seed = 0; seed < 30; ++seed) {
    GoodPlan forged = make_plan(seed);
    if (!forgery.forge(forged)) continue;
    ++fitted;
    const Judgement found = judge(forged);
    EXPECT_TRUE(testing::breaks(found, forgery.rule))
        << forgery.rule << ": " << forgery.what << ", seed " << seed << testing::told(found);
  }
  EXPECT_GT(fitted, 0) << forgery.rule << ": " << forgery.what << " fits no plan";
}

TEST(PlanForgeries, OfNothingAreGoodPlans) {
  for (uint64_t seed = 0; seed < 30; ++seed) {
    const GoodPlan good = make_plan(seed);
    EXPECT_TRUE(judge(good).good()) << testing::told(judge(good));
    EXPECT_TRUE(judge(good).not_applied.empty());
  }
}

TEST(PlanForgeries, OfDecisionsAreRefused) {
  for (const PlanForgery& forgery : decision_forgeries()) try_plan_forgery(forgery);
}

// Says of the plan that three passes in flight take their true time, changed so.
ForgePlan says_of_three_passes(const std::function<Duration(Duration)>& forged) {
  return [forged](GoodPlan& one) {
    Result<Passes> passes = Passes::make(one.problem(), 3);
    if (!passes) return false;
    const Result<Duration> truth = passes->time_per_pass(one.plan);
    if (!truth) return false;
    one.plan.passes = PlannedPasses{.in_flight = 3, .time_per_pass = forged(*truth)};
    return true;
  };
}

const std::vector<PlanForgery>& steady_state_forgeries() {
  static const std::vector<PlanForgery> all = {
      {"steady state", "a nanosecond less per pass",
       says_of_three_passes([](Duration truth) { return truth - Duration{1}; })},
      {"steady state", "a nanosecond more per pass",
       says_of_three_passes([](Duration truth) { return truth + Duration{1}; })},
      {"steady state", "half of the time per pass",
       says_of_three_passes([](Duration truth) { return truth / 2; })},
  };
  return all;
}

TEST(PlanForgeries, OfSteadyStatesAreRefused) {
  for (const PlanForgery& forgery : steady_state_forgeries()) try_plan_forgery(forgery);
}

TEST(PlanForgeries, OfTimelinesAreRefused) {
  for (const PlanForgery& forgery : timeline_forgeries()) try_plan_forgery(forgery);
}

// Limits of which the judge of plans can tell, and those of which only a run can.
TEST(PlanForgeries, OfMemoryAreRefused) {
  std::map<std::string, int> refused;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    Rng rng = Rng(6).split(seed);
    const auto world = std::shared_ptr<const World>(new World(testing::random_world({}, rng)));
    const GoodPlan one{world, testing::random_plan(*world->problem, rng)};
    const Judgement found = judge(one);
    SimRuntime runtime;
    const bool ends = runtime.run(one.problem(), one.plan).has_value();
    EXPECT_EQ(found.good(), ends) << testing::told(found);
    for (const char* rule : {"memory", "standstill"}) refused[rule] += testing::breaks(found, rule);
  }
  EXPECT_GE(refused["memory"], 3);
  EXPECT_GE(refused["standstill"], 3);
}

// Those of stream buffers: forgery_streams_test.cc.
TEST(PlanForgeries, AreThreeForEveryRule) {
  std::map<std::string, int> count = {{"memory", 3}, {"standstill", 3}, {"stream buffers", 3}};
  for (const auto* some :
       {&decision_forgeries(), &timeline_forgeries(), &steady_state_forgeries()}) {
    for (const PlanForgery& forgery : *some) ++count[forgery.rule];
  }
  for (const auto rules : {plan_rule_table(), plan_replay_rules()}) {
    for (const Rule& rule : rules) EXPECT_GE(count[std::string(rule.name)], 3) << rule.name;
  }
}

TEST(PlanForgeries, ThatCallATimelineAnEstimateAreTold) {
  GoodPlan one = make_plan(1);
  one.plan.simulated = false;
  const Judgement found = judge(one);
  EXPECT_TRUE(found.good());
  ASSERT_EQ(found.not_applied.size(), 1u);
  EXPECT_EQ(found.not_applied[0].rule, "timeline");
}

}  // namespace
}  // namespace tutti
