// The judge where memory is limited: what may be held, and which waits that excuses.

#include <gtest/gtest.h>

#include <algorithm>

#include "tutti/trace/check.h"
#include "tutti/trace/testing.h"

namespace tutti {
namespace {

using namespace testing;
using Sentences = std::vector<std::string>;

bool contains(const Sentences& sentences, const std::string& sentence) {
  return std::find(sentences.begin(), sentences.end(), sentence) != sentences.end();
}

Constraints limit(const char* memory, int64_t bytes) {
  Constraints constraints;
  constraints.memory_limits = {{.memory = memory, .bytes = bytes}};
  return constraints;
}

TEST(CheckMemory, AllowsJustWhatFits) {
  // gpu0 holds the weight (50), x (100, until a ends) and the output of a (100).
  const World enough(small_graph(), small_machine(), limit("gpu0", 250));
  EXPECT_EQ(check_trace(enough.problem(), small_trace(enough.problem())), Sentences{});
  const World short_of_one(small_graph(), small_machine(), limit("gpu0", 249));
  EXPECT_EQ(check_trace(short_of_one.problem(), small_trace(short_of_one.problem())),
            Sentences{"memory 'gpu0' held 250 bytes at 110 ns, which is 1 over its limit of 249"});
}

TEST(CheckMemory, CountsTransientBytesWhileTheOpRuns) {
  const World world(small_graph({.transient_bytes = 7}), small_machine(), limit("gpu0", 256));
  EXPECT_EQ(check_trace(world.problem(), small_trace(world.problem())),
            Sentences{"memory 'gpu0' held 257 bytes at 110 ns, which is 1 over its limit of 256"});
}

// p makes 100 bytes that r reads; q makes 100 bytes and has room only once r has finished, although
// the second slot of cpu0 is free all the time.
class ShortMemory : public ::testing::Test {
 protected:
  static Graph graph() {
    GraphBuilder builder("short");
    const std::vector<GivenTime> times = {{"", ns(100)}};
    const std::vector<ValueSpec> large = {{.bytes = 100}};
    const std::vector<ValueSpec> small = {{.bytes = 10}};
    const OpId p =
        builder.add_op({.name = "p", .kind = "work", .outputs = large, .run_times = times});
    const std::vector<ValueId> made = {builder.outputs(p).front()};
    builder.add_op(
        {.name = "r", .kind = "work", .operands = made, .outputs = small, .run_times = times});
    builder.add_op({.name = "q", .kind = "work", .outputs = large, .run_times = times});
    return std::move(builder).build().value();
  }

  Trace trace(Duration start_of_q) const {
    Trace trace = empty_trace(world_.problem());
    trace.ops = {{OpId{0}, kCpu0, 0, ns(0), ns(100)},
                 {OpId{1}, kCpu0, 0, ns(100), ns(200)},
                 {OpId{2}, kCpu0, 1, start_of_q, start_of_q + ns(100)}};
    trace.makespan = trace.ops[2].finish;
    return trace;
  }

  World world_{graph(), small_machine(), limit("host", 150)};
};

TEST_F(ShortMemory, ExcusesAnOpThatWaitsForRoom) {
  EXPECT_EQ(check_trace(world_.problem(), trace(ns(200))), Sentences{});
}

TEST_F(ShortMemory, DoesNotExcuseAnOpThatWaitsLonger) {
  EXPECT_EQ(check_trace(world_.problem(), trace(ns(201))),
            Sentences{"op 'q' could start on 'cpu0' from 200 ns on, where a slot was free, but "
                      "started at 201 ns"});
}

TEST_F(ShortMemory, DoesNotLetAnOpStartWithoutRoom) {
  EXPECT_TRUE(
      contains(check_trace(world_.problem(), trace(ns(199))),
               "memory 'host' held 210 bytes at 199 ns, which is 60 over its limit of 150"));
}

TEST_F(ShortMemory, ExcusesAnOpThatAnOnlinePolicyHadNoRoomFor) {
  const auto placed_at = [&](Duration time) {
    Constraints constraints = limit("host", 150);
    for (const char* op : {"p", "q", "r"}) constraints.pins.push_back({op, {"cpu0"}});
    const World world(graph(), small_machine(), constraints);
    Trace run = trace(time);
    run.placed = {{OpId{0}, ns(0)}, {OpId{1}, ns(100)}, {OpId{2}, time}};
    return check_trace(world.problem(), run);
  };
  EXPECT_EQ(placed_at(ns(200)), Sentences{});
  EXPECT_EQ(placed_at(ns(250)), Sentences{"op 'q' could be placed on 'cpu0' at 200 ns, but was "
                                          "placed at 250 ns without a pause"});
}

TEST_F(ShortMemory, LetsAnOpThatFitsOvertakeOneThatDoesNot) {
  // q goes first by priority, but has no room until r has finished.
  Plan plan;
  plan.placement = {kCpu0, kCpu0, kCpu0};
  plan.priority = {0, 2, 1};
  Trace run = trace(ns(200));
  run.order = ReadyOrder::priority;
  EXPECT_EQ(check_trace(world_.problem(), run, {.plan = &plan}), Sentences{});
  const World wide(graph(), small_machine(), limit("host", 250));
  run.ops[1] = {OpId{1}, kCpu0, 0, ns(100), ns(200)};
  EXPECT_TRUE(contains(check_trace(wide.problem(), run, {.plan = &plan}),
                       "op 'r' of priority 2 started on 'cpu0' at 100 ns, while 'q' of priority 1 "
                       "was ready there and had room"));
}

// s and t are made in gpu0 and gpu1, and read by u and v in cpu0. p fills the host's memory until r
// has read it at 200; from then on there is room for one of the two copies.
class ShortOfRoomForCopies : public ::testing::Test {
 protected:
  static Graph graph() {
    GraphBuilder builder("copies");
    const std::vector<GivenTime> times = {{"", ns(100)}};
    const std::vector<ValueSpec> large = {{.bytes = 100}};
    const auto add = [&](const char* name, const std::vector<ValueId>& operands, bool makes) {
      const OpId op = builder.add_op({.name = name,
                                      .kind = "work",
                                      .operands = operands,
                                      .outputs = makes ? large : std::vector<ValueSpec>(),
                                      .run_times = times});
      return makes ? builder.outputs(op).front() : ValueId{};
    };
    const ValueId p = add("p", {}, true);
    add("r", {p}, false);
    const ValueId s = add("s", {}, true);
    const ValueId t = add("t", {}, true);
    add("u", {s}, false);
    add("v", {t}, false);
    return std::move(builder).build().value();
  }

  // s sets out at `first`, t when u has read s.
  Sentences check(Duration first) const {
    const ValueId s{1}, t{2};
    const Duration second = first + ns(210);
    Trace trace = empty_trace(world_.problem());
    trace.ops = {{OpId{0}, kCpu0, 0, ns(0), ns(100)},
                 {OpId{1}, kCpu0, 0, ns(100), ns(200)},
                 {OpId{2}, kGpu0, 0, ns(0), ns(100)},
                 {OpId{3}, kGpu1, 0, ns(0), ns(100)},
                 {OpId{4}, kCpu0, 0, first + ns(110), first + ns(210)},
                 {OpId{5}, kCpu0, 0, second + ns(110), second + ns(210)}};
    trace.transfers = {{s, kOnGpu0, kHost, 0, false, first, first + ns(110)},
                       {t, kOnGpu1, kHost, 0, false, second, second + ns(110)}};
    trace.makespan = second + ns(210);
    return check_trace(world_.problem(), trace);
  }

  World world_{graph(), small_machine(), limit("host", 150)};
};

TEST_F(ShortOfRoomForCopies, ExcusesATransferThatWaitsForRoom) {
  EXPECT_EQ(check(ns(200)), Sentences{});
}

TEST_F(ShortOfRoomForCopies, DoesNotExcuseTransfersThatWaitForEachOther) {
  EXPECT_TRUE(contains(check(ns(230)),
                       "hop 0 of the transfer of 's' to 'host' could start at 200 ns, when its "
                       "channels had room, but started at 230 ns"));
}

TEST(CheckMemory, DoesNotExcuseATransferThatHasRoom) {
  const World world(small_graph(), small_machine(), limit("host", 1000));
  Trace trace = small_trace(world.problem());
  stand_still(trace, ns(640), ns(10));
  EXPECT_EQ(check_trace(world.problem(), trace),
            Sentences{"hop 0 of the transfer of 'd' to 'host' could start at 640 ns, when its "
                      "channels had room, but started at 650 ns"});
}

}  // namespace
}  // namespace tutti
