#include "tutti/trace/check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "tutti/trace/testing.h"

namespace tutti {
namespace {

using namespace testing;
using Sentences = std::vector<std::string>;

TEST(CheckTrace, FindsNothingWrongWithAGoodRun) {
  const World world(small_graph(), small_machine());
  const Plan plan = small_plan(world.problem());
  EXPECT_EQ(check_trace(world.problem(), small_trace(world.problem()), {.plan = &plan}),
            Sentences{});
  EXPECT_EQ(check_trace(world.problem(), small_trace(world.problem())), Sentences{});
}

TEST(CheckTrace, SaysAtMostAsMuchAsItMay) {
  const World world(small_graph(), small_machine());
  Trace trace = small_trace(world.problem());
  trace.ops.clear();
  EXPECT_EQ(check_trace(world.problem(), trace, {.limit = 2}).size(), 2u);
}

TEST(CheckTrace, TakesNoSampledRunWhereNothingHasNoise) {
  const World world(small_graph(), small_machine());
  Trace trace = small_trace(world.problem());
  trace.ops[kE.index].finish += ns(7);
  trace.makespan += ns(7);
  trace.sampled = true;
  EXPECT_EQ(check_trace(world.problem(), trace),
            (Sentences{"the trace is recorded as sampled, but these costs have no noise",
                       "op 'e' ran for 407 ns on 'cpu0', where its run time is 400 ns"}));
}

TEST(CheckTrace, LetsDrawnOpsTakeWhatTheirNoiseCanReach) {
  // A factor of Student's t is cut to [0.1, 1000], and here again divided by about 1.
  CostSpec costs;
  costs.run_time_noise = {.model = NoiseSpec::Model::student_t, .spread = 0.1};
  const World world(small_graph(), small_machine(), {}, costs);
  const auto with_e_of = [&](Duration run_time) {
    Trace trace = small_trace(world.problem());
    trace.sampled = true;
    trace.ops[kE.index].finish = trace.ops[kE.index].start + run_time;
    trace.makespan = trace.ops[kE.index].finish;
    return check_trace(world.problem(), trace);
  };
  EXPECT_EQ(with_e_of(ns(407)), Sentences{});
  EXPECT_EQ(with_e_of(ns(42)), Sentences{});
  ASSERT_EQ(with_e_of(ns(30)).size(), 1u);
  EXPECT_EQ(with_e_of(ns(30))[0].find("op 'e' ran for 30 ns on 'cpu0', where its noise reaches"),
            0u);
  EXPECT_EQ(with_e_of(ns(500000)).size(), 1u);
}

TEST(CheckTrace, LetsNothingBesideTheDrawnTakeItsTime) {
  CostSpec costs;
  costs.run_time_noise = {.model = NoiseSpec::Model::log_normal, .spread = 0.1};
  const World world(small_graph(), small_machine(), {}, costs);
  Trace trace = small_trace(world.problem());
  trace.sampled = true;
  trace.transfers[kMoveD].finish += ns(5);
  trace.ops[kE.index].start += ns(5);
  trace.ops[kE.index].finish += ns(5);
  trace.makespan += ns(5);
  EXPECT_EQ(check_trace(world.problem(), trace),
            Sentences{"hop 0 of the transfer of 'd' to 'host' took 115 ns, but it takes 110 ns"});
}

TEST(CheckTrace, LetsDrawnTransfersTakeWhatTheirNoiseCanReach) {
  CostSpec costs;
  costs.transfer_noise = {.model = NoiseSpec::Model::log_normal, .spread = 0.1};
  const World world(small_graph(), small_machine(), {}, costs);
  const auto with_d_late_by = [&](Duration late) {
    Trace trace = small_trace(world.problem());
    trace.sampled = true;
    trace.transfers[kMoveD].finish += late;
    trace.ops[kE.index].start += late;
    trace.ops[kE.index].finish += late;
    trace.makespan += late;
    return check_trace(world.problem(), trace);
  };
  EXPECT_EQ(with_d_late_by(ns(5)), Sentences{});
  ASSERT_EQ(with_d_late_by(ns(500)).size(), 1u);
  EXPECT_EQ(with_d_late_by(ns(500))[0].find("hop 0 of the transfer of 'd' to 'host' took 610 ns, "
                                            "but its noise reaches"),
            0u);
}

TEST(CheckTrace, HoldsTheNullRuntimeToTakingNoTime) {
  const World world(small_graph(), small_machine());
  Trace trace = small_trace(world.problem());
  EXPECT_EQ(check_trace(world.problem(), trace, {.timeless = true}),
            Sentences{"a run of the null runtime takes no time, but this one lasted until 1150 "
                      "ns"});
  for (OpSpan& span : trace.ops) span.start = span.finish = ns(0);
  for (TransferSpan& span : trace.transfers) span.start = span.finish = ns(0);
  trace.makespan = ns(0);
  EXPECT_EQ(check_trace(world.problem(), trace, {.timeless = true}), Sentences{});
}

struct Broken {
  const char* claim;
  std::function<void(Trace&, Plan&)> corrupt;
  const char* sentence;
};

class BrokenTrace : public ::testing::TestWithParam<Broken> {};

TEST_P(BrokenTrace, IsToldInItsOwnSentence) {
  Constraints constraints;
  constraints.pins = {{.op = "e", .devices = {"cpu0", "gpu1"}}};
  constraints.colocations = {{"a", "b"}};
  const World world(small_graph(), small_machine(), constraints);
  Plan plan = small_plan(world.problem());
  Trace trace = small_trace(world.problem());
  ASSERT_EQ(check_trace(world.problem(), trace, {.plan = &plan}), Sentences{});
  GetParam().corrupt(trace, plan);
  const Sentences sentences = check_trace(world.problem(), trace, {.plan = &plan});
  EXPECT_NE(std::find(sentences.begin(), sentences.end(), GetParam().sentence), sentences.end())
      << ::testing::PrintToString(sentences);
}

INSTANTIATE_TEST_SUITE_P(
    Shape, BrokenTrace,
    ::testing::Values(
        Broken{"OpMissing", [](Trace& trace, Plan&) { trace.ops.pop_back(); }, "op 'e' never ran"},
        Broken{"OpTwice", [](Trace& trace, Plan&) { trace.ops.push_back(trace.ops[0]); },
               "op 'a' ran twice"},
        Broken{"UnknownOp", [](Trace& trace, Plan&) { trace.ops[0].op = OpId{5}; },
               "a span names op 5, but the graph has 5 ops"},
        Broken{"UnknownDevice", [](Trace& trace, Plan&) { trace.ops[0].device = DeviceId{3}; },
               "op 'a' ran on device 3, but the machine has 3 devices"},
        Broken{"SlotOutOfRange", [](Trace& trace, Plan&) { trace.ops[0].slot = 1; },
               "op 'a' ran in slot 1 of 'gpu0', which has 1 slots"},
        Broken{"EndsBeforeItStarts", [](Trace& trace, Plan&) { trace.ops[0].finish = ns(100); },
               "op 'a' ran from 110 ns to 100 ns, which is no span of time"},
        Broken{"StartsBeforeTheRun", [](Trace& trace, Plan&) { trace.ops[0].start = ns(-1); },
               "op 'a' started at -1 ns, before the run"},
        Broken{"UnknownValue",
               [](Trace& trace, Plan&) { trace.transfers[kMoveX].value = ValueId{7}; },
               "a transfer of value 7 from memory 0 to 1 names what does not exist"},
        Broken{"TransferEndsBeforeItStarts",
               [](Trace& trace, Plan&) { trace.transfers[kMoveX].finish = ns(-1); },
               "the transfer of 'x' to 'gpu0' runs from 0 ns to -1 ns, which is no span of time"},
        Broken{"PlacedTwice",
               [](Trace& trace, Plan&) {
                 trace.placed = {{kA, ns(0)}, {kA, ns(0)}};
               },
               "op 'a' was placed twice"},
        Broken{"NeverPlaced",
               [](Trace& trace, Plan&) {
                 trace.placed = {{kA, ns(0)}};
               },
               "op 'b' ran but was never placed"},
        Broken{"PauseBackwards",
               [](Trace& trace, Plan&) {
                 trace.pauses = {{ns(5), ns(4)}};
               },
               "a pause lasts from 5 ns to 4 ns, which is no span of time"},
        Broken{"PlanOfAnotherSize", [](Trace&, Plan& plan) { plan.placement.pop_back(); },
               "the plan places 4 ops, but the graph has 5"}),
    [](const auto& instance) { return instance.param.claim; });

INSTANTIATE_TEST_SUITE_P(
    Ops, BrokenTrace,
    ::testing::Values(
        Broken{"OtherDeviceThanPlanned",
               [](Trace&, Plan& plan) { plan.placement[kE.index] = kGpu1; },
               "op 'e' ran on 'cpu0', but the plan places it on 'gpu1'"},
        Broken{"DeviceNotAllowed", [](Trace& trace, Plan&) { trace.ops[kE.index].device = kGpu0; },
               "op 'e' ran on 'gpu0', which its constraints do not allow"},
        Broken{"ColocationBroken", [](Trace& trace, Plan&) { trace.ops[kB.index].device = kGpu1; },
               "ops 'a' and 'b' must share a device but ran on 'gpu0' and 'gpu1'"},
        Broken{"RunTimeWrong", [](Trace& trace, Plan&) { trace.ops[kE.index].finish += ns(1); },
               "op 'e' ran for 401 ns on 'cpu0', where its run time is 400 ns"},
        Broken{"OperandNotThere", [](Trace& trace, Plan&) { trace.ops[kC.index].start = ns(429); },
               "op 'c' started at 429 ns, but its operand 'a' was in 'gpu1' only at 430 ns"},
        Broken{"TransferMissing",
               [](Trace& trace, Plan&) { trace.transfers.erase(trace.transfers.begin()); },
               "op 'a' read 'x', which was never transferred to 'gpu0'"},
        Broken{"StartedBeforePlaced",
               [](Trace& trace, Plan&) {
                 trace.placed = {{kA, ns(0)}, {kB, ns(211)}, {kC, ns(0)}, {kD, ns(0)}, {kE, ns(0)}};
               },
               "op 'b' started at 210 ns, but was placed only at 211 ns"},
        Broken{"SlotTakenTwice",
               [](Trace& trace, Plan&) {
                 trace.ops[kB.index].start -= ns(10);
                 trace.ops[kB.index].finish -= ns(10);
               },
               "ops 'a' and 'b' both ran in slot 0 of 'gpu0' at 200 ns"},
        Broken{
            "StrictOrderBroken",
            [](Trace&, Plan& plan) { std::swap(plan.strict_order[1][0], plan.strict_order[1][1]); },
            "on 'gpu1' op 'c' started at 430 ns, before 'd', which the strict order puts first"},
        Broken{"PlacedThoughPlanned",
               [](Trace& trace, Plan&) {
                 trace.placed = {{kA, ns(0)}, {kB, ns(0)}, {kC, ns(0)}, {kD, ns(0)}, {kE, ns(0)}};
               },
               "the trace records when ops were placed, but the plan placed them all beforehand"},
        Broken{"PausedThoughPlanned",
               [](Trace& trace, Plan&) {
                 trace.pauses = {{ns(0), ns(5)}};
               },
               "the trace records pauses, but the run of a plan has none"},
        Broken{"MakespanWrong", [](Trace& trace, Plan&) { trace.makespan = ns(1149); },
               "the trace's makespan is 1149 ns, but its last op finished at 1150 ns"},
        Broken{"SlotFreeWhileAnOpWaits",
               [](Trace& trace, Plan&) { stand_still(trace, ns(750), ns(50)); },
               "op 'e' could start on 'cpu0' from 750 ns on, where a slot was free, but started at "
               "800 ns"}),
    [](const auto& instance) { return instance.param.claim; });

INSTANTIATE_TEST_SUITE_P(
    Transfers, BrokenTrace,
    ::testing::Values(
        Broken{"TransferTwice",
               [](Trace& trace, Plan&) { trace.transfers.push_back(trace.transfers[kMoveX]); },
               "'x' was transferred to 'gpu0' twice"},
        Broken{"TransferHome", [](Trace& trace, Plan&) { trace.transfers[kMoveD].to = kOnGpu1; },
               "'d' was transferred to 'gpu1', where it already was"},
        Broken{"TransferOfWhatIsEverywhere",
               [](Trace& trace, Plan&) {
                 trace.transfers.push_back({ValueId{1}, kHost, kOnGpu0, 0, false, ns(0), ns(60)});
               },
               "'w' was transferred to 'gpu0', where it already was"},
        Broken{"TransferForNobody",
               [](Trace& trace, Plan&) {
                 trace.transfers.push_back({kFromA, kOnGpu0, kHost, 0, false, ns(900), ns(1010)});
               },
               "'a' was transferred to 'host', where no op reads it"},
        Broken{"TransferFromElsewhere",
               [](Trace& trace, Plan&) { trace.transfers[kMoveX].from = kOnGpu1; },
               "'x' was transferred to 'gpu0' from 'gpu1', but its home is 'host'"},
        Broken{"TransferBeforeItsValue",
               [](Trace& trace, Plan&) {
                 trace.transfers[kMoveD].start -= ns(1);
                 trace.transfers[kMoveD].finish -= ns(1);
               },
               "the transfer of 'd' to 'host' started at 639 ns, but the value existed at 640 ns"},
        Broken{"GivenWithoutATime",
               [](Trace& trace, Plan&) { trace.transfers[kMoveX].given = true; },
               "the transfer of 'x' to 'gpu0' is recorded as given, but no time is given"},
        Broken{"UnknownHop", [](Trace& trace, Plan&) { trace.transfers[kMoveX].hop = 1; },
               "the transfer of 'x' to 'gpu0' has a hop 1, but its route has 1 hops"},
        Broken{"NegativeHop", [](Trace& trace, Plan&) { trace.transfers[kMoveX].hop = -1; },
               "the transfer of 'x' to 'gpu0' has a hop -1, but its route has 1 hops"},
        Broken{
            "HopMissing",
            [](Trace& trace, Plan&) { trace.transfers.erase(trace.transfers.begin() + kMoveA1); },
            "the transfer of 'a' to 'gpu1' has 1 of the 2 hops of its route"},
        Broken{
            "HopsOutOfOrder",
            [](Trace& trace, Plan&) {
              trace.transfers[kMoveA1].start -= ns(1);
              trace.transfers[kMoveA1].finish -= ns(1);
            },
            "hop 1 of the transfer of 'a' to 'gpu1' started at 319 ns, but hop 0 ended at 320 ns"},
        Broken{"HopTooQuick", [](Trace& trace, Plan&) { trace.transfers[kMoveX].finish -= ns(1); },
               "hop 0 of the transfer of 'x' to 'gpu0' took 109 ns, but it takes 110 ns"},
        Broken{
            "ChannelOverCapacity",
            [](Trace& trace, Plan&) {
              trace.transfers[kMoveB0].start -= ns(5);
              trace.transfers[kMoveB0].finish -= ns(5);
            },
            "channel 'to-gpu0<' carried more than its 1 transfers at once from 315 ns to 320 ns"},
        Broken{
            "LinkFreeWhileAHopWaits",
            [](Trace& trace, Plan&) { stand_still(trace, ns(640), ns(10)); },
            "hop 0 of the transfer of 'd' to 'host' could start at 640 ns, when its channels had "
            "room, but started at 650 ns"},
        Broken{
            "LinkFreeWhileALaterHopWaits",
            [](Trace& trace, Plan&) { stand_still(trace, ns(430), ns(10)); },
            "hop 1 of the transfer of 'b' to 'gpu1' could start at 430 ns, when its channels had "
            "room, but started at 440 ns"}),
    [](const auto& instance) { return instance.param.claim; });

TEST(CheckTrace, RefusesARunOfAnotherGraphOrMachine) {
  const World world(small_graph(), small_machine());
  Trace trace = small_trace(world.problem());
  trace.graph_fingerprint ^= 1;
  const Sentences graph = check_trace(world.problem(), trace);
  ASSERT_EQ(graph.size(), 1u);
  EXPECT_EQ(graph[0].find("the trace is of another graph"), 0u) << graph[0];
  trace = small_trace(world.problem());
  trace.machine_fingerprint ^= 1;
  const Sentences machine = check_trace(world.problem(), trace);
  ASSERT_EQ(machine.size(), 1u);
  EXPECT_EQ(machine[0].find("the trace is of another machine"), 0u) << machine[0];
}

TEST(CheckTrace, KnowsWhichDevicesCannotRunAnOp) {
  GraphBuilder builder("cpu only");
  const std::vector<GivenTime> times = {{"cpu", ns(1)}};
  builder.add_op({.name = "a", .kind = "work", .run_times = times});
  const World world(std::move(builder).build().value(), small_machine());
  Trace trace = empty_trace(world.problem());
  trace.ops = {{kA, kGpu0, 0, ns(0), ns(1)}};
  trace.makespan = ns(1);
  EXPECT_EQ(check_trace(world.problem(), trace),
            Sentences{"op 'a' ran on 'gpu0', which cannot run it"});
}

TEST(CheckTrace, ExcusesAnOpThatIsNotNextInTheStrictOrder) {
  // q is ready at once, but the order puts it behind r, which waits for x.
  GraphBuilder builder("order");
  const ValueId x = builder.add_input(
      {.value = {.name = "x", .bytes = 100}, .residence = {Residence::Where::host, ""}});
  const std::vector<GivenTime> times = {{"", ns(100)}};
  const std::vector<ValueId> reads_x = {x};
  builder.add_op({.name = "r", .kind = "work", .operands = reads_x, .run_times = times});
  builder.add_op({.name = "q", .kind = "work", .run_times = times});
  const World world(std::move(builder).build().value(), small_machine());
  Trace trace = empty_trace(world.problem());
  trace.ops = {{OpId{0}, kGpu0, 0, ns(110), ns(210)}, {OpId{1}, kGpu0, 0, ns(210), ns(310)}};
  trace.transfers = {{kX, kHost, kOnGpu0, 0, false, ns(0), ns(110)}};
  trace.makespan = ns(310);
  Plan plan;
  plan.placement = {kGpu0, kGpu0};
  plan.priority = {0, 0};
  EXPECT_EQ(check_trace(world.problem(), trace, {.plan = &plan}),
            Sentences{"op 'q' could start on 'gpu0' from 0 ns on, where a slot was free, but "
                      "started at 210 ns"});
  plan.strict_order = {{OpId{0}, OpId{1}}, {}, {}};
  EXPECT_EQ(check_trace(world.problem(), trace, {.plan = &plan}), Sentences{});
}

}  // namespace
}  // namespace tutti
