#include "tutti/trace/critical_path.h"

#include <gtest/gtest.h>

#include "tutti/trace/testing.h"

namespace tutti {
namespace {

using namespace testing;  // the small world

struct Step {
  bool is_op;
  int32_t span;
  Cause cause;
};

void expect_path(const RunCriticalPath& path, const std::vector<Step>& expected) {
  ASSERT_EQ(path.steps.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(path.steps[i].is_op, expected[i].is_op) << i;
    EXPECT_EQ(path.steps[i].span, expected[i].span) << i;
    EXPECT_EQ(path.steps[i].cause, expected[i].cause) << i;
  }
}

// e waits for d's value, d for b's second hop, which waits for its first, which waits until the
// channel has carried a's value; that waits for a, and a for x.
TEST(RunCriticalPath, GoesThroughOpsTransfersAndBusyChannels) {
  const World world(small_graph(), small_machine());
  const RunCriticalPath path = critical_path_of_run(world.problem(), small_trace(world.problem()));
  expect_path(path, {{false, kMoveX, Cause::none},
                     {true, 0, Cause::data},
                     {false, kMoveA0, Cause::data},
                     {false, kMoveB0, Cause::channel},
                     {false, kMoveB1, Cause::data},
                     {true, 3, Cause::data},
                     {false, kMoveD, Cause::data},
                     {true, 4, Cause::data}});
  EXPECT_EQ(path.in_ops, ns(100 + 100 + 400));  // a, d, e
  EXPECT_EQ(path.in_transfers, ns(110 * 5));    // x, a's first hop, b's two, d
  EXPECT_EQ(path.waiting, ns(0));
}

TEST(RunCriticalPath, WaitsForASlot) {
  const World world(small_graph(), small_machine());
  Trace trace = empty_trace(world.problem());
  trace.ops = {{kA, kGpu0, 0, ns(110), ns(210)}, {kB, kGpu0, 0, ns(210), ns(310)}};
  trace.transfers = {{kX, kHost, kOnGpu0, 0, false, ns(0), ns(110)}};
  trace.ops.push_back({kC, kGpu0, 0, ns(310), ns(410)});  // needs a alone, which is there since 210
  const RunCriticalPath path = critical_path_of_run(world.problem(), trace);
  expect_path(path, {{false, 0, Cause::none},
                     {true, 0, Cause::data},
                     {true, 1, Cause::data},
                     {true, 2, Cause::slot}});
}

TEST(RunCriticalPath, WaitsForMemoryThatAnOpFreed) {
  const World world(small_graph(), small_machine());
  Trace trace = empty_trace(world.problem());
  // On the two slots of the cpu: b could begin at 400, but begins when c ends.
  trace.ops = {{kA, kCpu0, 0, ns(0), ns(400)},
               {kC, kCpu0, 1, ns(400), ns(800)},
               {kB, kCpu0, 0, ns(800), ns(1200)}};
  const RunCriticalPath path = critical_path_of_run(world.problem(), trace);
  expect_path(path, {{true, 0, Cause::none}, {true, 1, Cause::data}, {true, 2, Cause::memory}});
}

TEST(RunCriticalPath, SaysWhereTheTraceExplainsNothing) {
  const World world(small_graph(), small_machine());
  Trace trace = small_trace(world.problem());
  stand_still(trace, ns(750), ns(50));  // e begins 50 ns after its data came
  const RunCriticalPath path = critical_path_of_run(world.problem(), trace);
  ASSERT_EQ(path.steps.size(), 8);
  EXPECT_EQ(path.steps.back().cause, Cause::unknown);
  EXPECT_EQ(path.waiting, ns(50));
}

// A plan shows no transfers: the time between ops is still the data's.
TEST(RunCriticalPath, PutsUnrecordedTransfersDownToData) {
  const World world(small_graph(), small_machine());
  const Plan plan = small_plan(world.problem());
  Trace trace = empty_trace(world.problem());
  for (const OpId op : {kA, kB, kC, kD, kE}) {
    trace.ops.push_back(
        {op, plan.placement[op.index], 0, plan.start[op.index], plan.finish[op.index]});
  }
  const RunCriticalPath path = critical_path_of_run(world.problem(), trace);
  // a (110 to 210), c (430 to 530), d (530 to 630), e (740 to 1140)
  expect_path(path, {{true, 0, Cause::none},
                     {true, 2, Cause::data},
                     {true, 3, Cause::data},
                     {true, 4, Cause::data}});
  EXPECT_EQ(path.waiting, ns(110 + 220 + 110));
}

// In the released model d waits for b (made at 200, there at 420), not for c (made at 400 on d's
// own device): between the gpus are two hops of 110, to the cpu is one.
TEST(RunCriticalPath, GoesToTheValueThatArrivedLastWhereNoTransfersAreRecorded) {
  const World world(small_graph(), small_machine());
  Trace trace = empty_trace(world.problem());
  trace.runtime = runtime_from_text("sim/released");
  trace.ops = {{kA, kGpu0, 0, ns(0), ns(100)},
               {kB, kGpu0, 0, ns(100), ns(200)},
               {kC, kGpu1, 0, ns(320), ns(400)},
               {kD, kGpu1, 0, ns(420), ns(520)},
               {kE, kCpu0, 0, ns(630), ns(1030)}};
  const RunCriticalPath path = critical_path_of_run(world.problem(), trace);
  expect_path(path, {{true, 0, Cause::none},
                     {true, 1, Cause::data},
                     {true, 3, Cause::data},
                     {true, 4, Cause::data}});
  EXPECT_EQ(path.in_ops, ns(100 + 100 + 100 + 400));
  EXPECT_EQ(path.in_transfers, ns(220 + 110));
  EXPECT_EQ(path.waiting, ns(0));
}

TEST(Decision, NamesTheTransferOfAGraphInput) {
  const World world(small_graph(), small_machine());
  const Trace trace = small_trace(world.problem());
  const Decision decision = what_decided(world.problem(), trace, 0);
  EXPECT_EQ(decision.cause, Cause::data);
  EXPECT_FALSE(decision.by_op);
  EXPECT_EQ(decision.span, kMoveX);
  EXPECT_EQ(decision.ready, ns(110));
}

TEST(RunCriticalPath, EndsEvenIfSpansTakeNoTime) {
  const World world(small_graph(), small_machine());
  Trace trace = empty_trace(world.problem());
  for (const OpId op : {kA, kB, kC, kD, kE}) {
    trace.ops.push_back({op, kCpu0, 0, ns(0), ns(0)});
    trace.ops.push_back({op, kCpu0, 0, ns(0), ns(0)});
  }
  EXPECT_LE(critical_path_of_run(world.problem(), trace).steps.size(), trace.ops.size());
}

TEST(RunCriticalPath, OfNothingIsEmpty) {
  const World world(small_graph(), small_machine());
  EXPECT_TRUE(critical_path_of_run(world.problem(), empty_trace(world.problem())).steps.empty());
}

}  // namespace
}  // namespace tutti
