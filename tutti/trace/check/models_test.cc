// The judge in worlds other than the plain one: shared links, given transfer times, online
// policies, the released model. Limited memory has check_memory_test.cc.

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "tutti/trace/check.h"
#include "tutti/trace/testing.h"

namespace tutti {
namespace {

using namespace testing;
using Sentences = std::vector<std::string>;

bool contains(const Sentences& sentences, const std::string& sentence) {
  return std::find(sentences.begin(), sentences.end(), sentence) != sentences.end();
}

// The same run over shared links: b leaves gpu0 at once, and joins when a has just passed.
Trace shared_trace(const Problem& problem) {
  Trace trace = small_trace(problem);
  trace.transfers[kMoveB0] = {kFromB, kOnGpu0, kOnGpu1, 0, false, ns(310), ns(420)};
  trace.transfers[kMoveB1] = {kFromB, kOnGpu0, kOnGpu1, 1, false, ns(420), ns(530)};
  stand_still(trace, ns(540), ns(-10));
  return trace;
}

TEST(CheckSharedLinks, LetTransfersOverlap) {
  const World world(small_graph(), small_machine(Sharing::shared));
  EXPECT_EQ(check_trace(world.problem(), shared_trace(world.problem())), Sentences{});
}

TEST(CheckSharedLinks, CarryNoMoreThanTheirBandwidth) {
  const World world(small_graph(), small_machine(Sharing::shared));
  Trace trace = shared_trace(world.problem());
  trace.transfers[kMoveB0].start = ns(220);
  trace.transfers[kMoveB0].finish = ns(330);
  EXPECT_TRUE(contains(
      check_trace(world.problem(), trace),
      "channel 'to-gpu0<' carried 200 bytes from 210 ns to 330 ns, but its bandwidth allows 122"));
}

TEST(CheckSharedLinks, AreNeverQuickerThanAlone) {
  const World world(small_graph(), small_machine(Sharing::shared));
  Trace trace = shared_trace(world.problem());
  trace.transfers[kMoveX].finish -= ns(1);
  EXPECT_TRUE(
      contains(check_trace(world.problem(), trace),
               "hop 0 of the transfer of 'x' to 'gpu0' took 109 ns, but even alone it takes "
               "110 ns"));
}

// Values of 1000, 2000 and 3000 bytes leave gpu0 for the host together, at 1 byte per ns: each gets
// a third until 3010, then the two that are left a half until 5010.
class FairLinks : public ::testing::Test {
 protected:
  static constexpr int kFirst = 0, kThird = 2;

  static Graph graph() {
    GraphBuilder builder("fair");
    const std::vector<GivenTime> no_time = {{"", ns(0)}};
    for (const int64_t bytes : {1000, 2000, 3000}) {
      const std::vector<ValueSpec> output = {{.bytes = bytes}};
      builder.add_op({.name = "make" + std::to_string(bytes),
                      .kind = "work",
                      .outputs = output,
                      .run_times = no_time});
    }
    for (int32_t i = 0; i < 3; ++i) {
      const std::vector<ValueId> operand = {ValueId{i}};
      builder.add_op({.name = "read" + std::to_string(i),
                      .kind = "work",
                      .operands = operand,
                      .run_times = no_time});
    }
    return std::move(builder).build().value();
  }

  FairLinks() : trace_(empty_trace(world_.problem())) {
    for (int32_t i = 0; i < 3; ++i) trace_.ops.push_back({OpId{i}, kGpu0, 0, ns(0), ns(0)});
    for (const int64_t finish : {3010, 5010, 6010}) {
      const auto i = static_cast<int32_t>(trace_.transfers.size());
      trace_.transfers.push_back({ValueId{i}, kOnGpu0, kHost, 0, false, ns(0), ns(finish)});
      trace_.ops.push_back({OpId{3 + i}, kCpu0, 0, ns(finish), ns(finish)});
    }
    trace_.makespan = ns(6010);
  }

  void end(int transfer, Duration time) {
    trace_.transfers[transfer].finish = time;
    trace_.ops[3 + transfer].start = trace_.ops[3 + transfer].finish = time;
    trace_.makespan = std::max(trace_.makespan, time);
  }

  Sentences check() const { return check_trace(world_.problem(), trace_); }

  World world_{graph(), small_machine(Sharing::shared)};
  Trace trace_;
};

TEST_F(FairLinks, DivideTheirBandwidthEqually) {
  EXPECT_EQ(check(), Sentences{});
}

TEST_F(FairLinks, MayNotIdle) {
  end(kThird, ns(9000));
  EXPECT_EQ(
      check(),
      Sentences{"hop 0 of the transfer of 'make3000' to 'host' ended only at 9000 ns, when "
                "its fair share of the channels could have moved 5990 bytes and it has 3000"});
}

TEST_F(FairLinks, MayNotPreferOne) {
  // The first takes all until 1010; the others share the rest and end as they did.
  end(kFirst, ns(1010));
  EXPECT_TRUE(contains(check(),
                       "hop 0 of the transfer of 'make1000' to 'host' ended at 1010 ns, but its "
                       "fair share of the channels moved 333 of its 1000 bytes by then"));
}

// From a to c a transfer of 50 ns is given, which holds no link.
class GivenTransfers : public ::testing::Test {
 protected:
  GivenTransfers() : trace_(empty_trace(world_.problem())) {
    trace_.ops = {{kA, kGpu0, 0, ns(110), ns(210)},
                  {kB, kGpu0, 0, ns(210), ns(310)},
                  {kC, kGpu1, 0, ns(260), ns(360)},
                  {kD, kGpu1, 0, ns(530), ns(630)},
                  {kE, kCpu0, 0, ns(740), ns(1140)}};
    trace_.transfers = {{kX, kHost, kOnGpu0, 0, false, ns(0), ns(110)},
                        {kFromA, kOnGpu0, kOnGpu1, 0, true, ns(210), ns(260)},
                        {kFromB, kOnGpu0, kOnGpu1, 0, false, ns(310), ns(420)},
                        {kFromB, kOnGpu0, kOnGpu1, 1, false, ns(420), ns(530)},
                        {kFromD, kOnGpu1, kHost, 0, false, ns(630), ns(740)}};
    trace_.makespan = ns(1140);
  }

  Sentences check() const { return check_trace(world_.problem(), trace_); }

  World world_{small_graph({.into_c = {{"gpu", "gpu", ns(50)}}}), small_machine()};
  Trace trace_;
};

TEST_F(GivenTransfers, TakeJustTheirTime) {
  EXPECT_EQ(check(), Sentences{});
}

TEST_F(GivenTransfers, TakeNoOtherTime) {
  trace_.transfers[1].finish -= ns(1);
  EXPECT_EQ(check()[0], "the transfer of 'a' to 'gpu1' took 49 ns, but its given time is 50 ns");
}

TEST_F(GivenTransfers, UseNoLinks) {
  trace_.transfers[1].given = false;
  EXPECT_EQ(check()[0], "the transfer of 'a' to 'gpu1' went over links, but its time is given");
}

TEST_F(GivenTransfers, DoNotWait) {
  trace_.transfers[1].start += ns(5);
  trace_.transfers[1].finish += ns(5);
  trace_.ops[kC.index].start += ns(5);
  trace_.ops[kC.index].finish += ns(5);
  EXPECT_EQ(check(),
            Sentences{"hop 0 of the transfer of 'a' to 'gpu1' could start at 210 ns, when its "
                      "channels had room, but started at 215 ns"});
}

// An online policy places d only when c has finished, at 530, so that b sets out only then.
class OnlineRun : public ::testing::Test {
 protected:
  OnlineRun() : trace_(small_trace(world_.problem())) {
    trace_.transfers[kMoveB0].start = ns(530);
    trace_.transfers[kMoveB0].finish = ns(640);
    trace_.transfers[kMoveB1].start = ns(640);
    trace_.transfers[kMoveB1].finish = ns(750);
    trace_.ops[kD.index] = {kD, kGpu1, 0, ns(750), ns(850)};
    trace_.transfers[kMoveD].start = ns(850);
    trace_.transfers[kMoveD].finish = ns(960);
    trace_.ops[kE.index] = {kE, kCpu0, 0, ns(960), ns(1360)};
    trace_.makespan = ns(1360);
    trace_.placed = {{kA, ns(0)}, {kB, ns(210)}, {kC, ns(210)}, {kD, ns(530)}, {kE, ns(850)}};
  }

  Sentences check() const { return check_trace(world_.problem(), trace_); }

  // The policy places d 70 ns late, and all that follows happens later.
  void hesitate() {
    stand_still(trace_, ns(530), ns(70));
    trace_.placed[kD.index].time += ns(70);
    trace_.placed[kE.index].time += ns(70);
  }

  World world_{small_graph(), small_machine()};
  Trace trace_;
};

TEST_F(OnlineRun, MayPlaceOpsAsTheyBecomeReady) {
  EXPECT_EQ(check(), Sentences{});
}

TEST_F(OnlineRun, TransfersNothingBeforeAReaderIsPlaced) {
  trace_.placed[kD.index].time = ns(531);
  EXPECT_TRUE(contains(check(),
                       "the transfer of 'b' to 'gpu1' started at 530 ns, but an op that reads it "
                       "there was placed only at 531 ns"));
}

TEST_F(OnlineRun, MayNotHesitateWithoutAPause) {
  hesitate();
  EXPECT_EQ(check(), Sentences{"op 'd' could be placed on 'gpu0' at 530 ns, but was placed at 600 "
                               "ns without a pause"});
}

TEST_F(OnlineRun, MayPause) {
  hesitate();
  trace_.pauses = {{ns(530), ns(560)}, {ns(560), ns(600)}};
  EXPECT_EQ(check(), Sentences{});
}

// p, q and r, of 100 ns each, have their operands from the start and wait for the one slot of gpu0.
class PriorityOrder : public ::testing::Test {
 protected:
  static Graph graph() {
    GraphBuilder builder("priority");
    const std::vector<GivenTime> times = {{"", ns(100)}};
    const std::vector<ValueSpec> output = {{.bytes = 100}};
    for (const char* name : {"p", "q", "r"}) {
      builder.add_op({.name = name, .kind = "work", .outputs = output, .run_times = times});
    }
    return std::move(builder).build().value();
  }

  // The ops in the order in which they start.
  Sentences check(const std::vector<OpId>& order, std::optional<ReadyOrder> recorded,
                  const Constraints& constraints = {}) const {
    const World world(graph(), small_machine(), constraints);
    Trace trace = empty_trace(world.problem());
    trace.order = recorded;
    for (const OpId op : order) {
      const Duration start = ns(100 * static_cast<int64_t>(trace.ops.size()));
      trace.ops.push_back({op, kGpu0, 0, start, start + ns(100)});
    }
    trace.makespan = ns(300);
    Plan plan;
    plan.placement = {kGpu0, kGpu0, kGpu0};
    plan.priority = {7, 5, 5};
    return check_trace(world.problem(), trace, {.plan = &plan});
  }
};

TEST_F(PriorityOrder, LetsTheSmallestGoFirst) {
  EXPECT_EQ(check({OpId{1}, OpId{2}, OpId{0}}, ReadyOrder::priority), Sentences{});
  EXPECT_EQ(check({OpId{2}, OpId{1}, OpId{0}}, ReadyOrder::priority), Sentences{});
  EXPECT_EQ(check({OpId{1}, OpId{0}, OpId{2}}, ReadyOrder::priority),
            Sentences{"op 'p' of priority 7 started on 'gpu0' at 100 ns, while 'r' of priority 5 "
                      "was ready there and had room"});
}

TEST_F(PriorityOrder, IsNotAskedOfOtherRuns) {
  EXPECT_EQ(check({OpId{0}, OpId{1}, OpId{2}}, ReadyOrder::fifo), Sentences{});
  EXPECT_EQ(check({OpId{0}, OpId{1}, OpId{2}}, std::nullopt), Sentences{});
}

// The released model: no transfer is recorded, and x is everywhere.
Trace released_trace(const Problem& problem) {
  Trace trace = empty_trace(problem);
  trace.ops = {{kA, kGpu0, 0, ns(0), ns(100)},
               {kB, kGpu0, 0, ns(100), ns(200)},
               {kC, kGpu1, 0, ns(320), ns(420)},
               {kD, kGpu1, 0, ns(420), ns(520)},
               {kE, kCpu0, 0, ns(630), ns(1030)}};
  trace.makespan = ns(1030);
  return trace;
}

TEST(CheckReleased, TakesOneTransferPerEdge) {
  const World world(small_graph(), small_machine());
  const Trace trace = released_trace(world.problem());
  EXPECT_EQ(check_trace(world.problem(), trace, {.released = true}), Sentences{});
}

TEST(CheckReleased, KnowsWhenAnOperandCanBeThere) {
  const World world(small_graph(), small_machine());
  Trace trace = released_trace(world.problem());
  trace.ops[kC.index].start = ns(319);
  EXPECT_TRUE(
      contains(check_trace(world.problem(), trace, {.released = true}),
               "op 'c' started at 319 ns, but its operand 'a' was in 'gpu1' only at 320 ns"));
}

TEST(CheckReleased, RecordsNoTransfers) {
  const World world(small_graph(), small_machine());
  EXPECT_EQ(check_trace(world.problem(), small_trace(world.problem()), {.released = true}),
            Sentences{"the released model records no transfers, but the trace has 6"});
}

TEST(CheckReleased, ServesFirstReadyFirst) {
  // Four ops keep gpu0 busy until 400; t waits for s from gpu1 until 320 and must come last.
  GraphBuilder builder("queue");
  const std::vector<GivenTime> times = {{"", ns(100)}};
  const std::vector<ValueSpec> output = {{.bytes = 100}};
  for (const char* name : {"p", "q", "u", "v"}) {
    builder.add_op({.name = name, .kind = "work", .outputs = output, .run_times = times});
  }
  const OpId s =
      builder.add_op({.name = "s", .kind = "work", .outputs = output, .run_times = times});
  const std::vector<ValueId> from_s = {builder.outputs(s).front()};
  builder.add_op(
      {.name = "t", .kind = "work", .operands = from_s, .outputs = output, .run_times = times});
  const World world(std::move(builder).build().value(), small_machine());
  Trace trace = empty_trace(world.problem());
  for (int32_t i = 0; i < 4; ++i) {
    trace.ops.push_back({OpId{i}, kGpu0, 0, ns(100 * i), ns(100 * i + 100)});
  }
  trace.ops.push_back({s, kGpu1, 0, ns(0), ns(100)});
  trace.ops.push_back({OpId{5}, kGpu0, 0, ns(400), ns(500)});
  trace.makespan = ns(500);
  EXPECT_EQ(check_trace(world.problem(), trace, {.released = true}), Sentences{});

  trace.ops[3] = {OpId{3}, kGpu0, 0, ns(420), ns(520)};
  trace.ops[5] = {OpId{5}, kGpu0, 0, ns(320), ns(420)};
  trace.makespan = ns(520);
  EXPECT_TRUE(contains(check_trace(world.problem(), trace, {.released = true}),
                       "on 'gpu0' op 'v' was ready at 0 ns, before 't', but started after it"));
}

// On real devices everything takes as long as it takes, but in the same order.
class MeasuredRun : public ::testing::Test {
 protected:
  World world_{small_graph(), small_machine()};
  Trace trace_ = small_trace(world_.problem());

  Sentences faults() {
    trace_.runtime = runtime_from_text("local");
    return check_trace(world_.problem(), trace_, rules_for(trace_, nullptr));
  }
};

TEST_F(MeasuredRun, MayTakeAnyTime) {
  stand_still(trace_, ns(320), ns(77));  // links and slots idle
  trace_.ops[4].finish += ns(1);         // e is slow
  trace_.makespan += ns(1);
  trace_.transfers[kMoveX].finish -= ns(5);  // x is quick
  EXPECT_EQ(faults(), Sentences{});
}

TEST_F(MeasuredRun, MayCopyFromEndToEndDirectly) {
  trace_.transfers[kMoveA0].finish = ns(430);
  trace_.transfers.erase(trace_.transfers.begin() + kMoveA1);
  EXPECT_EQ(faults(), Sentences{});
}

TEST_F(MeasuredRun, MustHaveItsOperands) {
  trace_.ops[2].start = ns(429);
  EXPECT_EQ(
      faults(),
      Sentences{"op 'c' started at 429 ns, but its operand 'a' was in 'gpu1' only at 430 ns"});
}

TEST_F(MeasuredRun, MustNotShareASlot) {
  trace_.ops[1].start = ns(209);
  EXPECT_TRUE(contains(faults(), "ops 'a' and 'b' both ran in slot 0 of 'gpu0' at 209 ns"));
}

TEST(MeasuredMemory, MustKeepToItsLimit) {
  Constraints limited;
  limited.memory_limits = {{.memory = "gpu0", .bytes = 249}};
  const World world(small_graph(), small_machine(), limited);
  Trace trace = small_trace(world.problem());
  trace.runtime = runtime_from_text("local");
  EXPECT_EQ(check_trace(world.problem(), trace, rules_for(trace, nullptr)),
            Sentences{"memory 'gpu0' held 250 bytes at 110 ns, which is 1 over its limit of 249"});
}

}  // namespace
}  // namespace tutti
