#include "tutti/plan/bound.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <vector>

#include "tutti/plan/bound/testing.h"

namespace tutti {
namespace {

using namespace std::chrono_literals;
using testing::graph_of;
using testing::machine_with;
using testing::OpOnKinds;
using testing::problem_of;

Bounds bounds_of(const Problem& problem) {
  return lower_bounds(problem);
}

TEST(Bound, IsZeroForAnEmptyGraph) {
  EXPECT_EQ(bounds_of(problem_of(GraphBuilder("empty"), machine_with({1}))).strongest(), 0ns);
}

TEST(Bound, RoundsTheLoadUpToWhatDividesAllTimes) {
  // Three ops of 4 on two devices: 6 each, but every end is a multiple of 4.
  const Bounds bounds =
      bounds_of(problem_of(graph_of({{{4ns}}, {{4ns}}, {{4ns}}}), machine_with({1, 1})));
  EXPECT_EQ(bounds.load, 8ns);
  EXPECT_EQ(bounds.path, 4ns);
}

TEST(Bound, OfAPassSharesSlotsWithOtherPasses) {
  // One op of 1000 on two slots: a run takes 1000, but in the long run two end in that time.
  const Problem problem = problem_of(graph_of({{{1000ns}}}), machine_with({2}));
  const Bounds bounds = bounds_of(problem);
  EXPECT_EQ(bounds.load, 1000ns);
  EXPECT_EQ(bound_per_pass(problem, bounds, 8), 500ns);
  EXPECT_EQ(bound_per_pass(problem, bounds, 1), 1000ns);
}

TEST(Bound, DividesTheLoadOverUnequalDevices) {
  // Four ops, each 10 on d0 and 30 on d1. In T, d0 does T / 10 of them and d1 does T / 30:
  // T (1/10 + 1/30) = 4, so T = 30.
  const std::vector<OpOnKinds> ops(4, {.times = {10ns, 30ns}});
  EXPECT_EQ(bounds_of(problem_of(graph_of(ops), machine_with({1, 1}))).load, 30ns);
  // A second slot on d1 counts like a second device: T (1/10 + 2/30) = 4, so T = 24, and the next
  // multiple of 10 is 30.
  EXPECT_EQ(bounds_of(problem_of(graph_of(ops), machine_with({1, 2}))).load, 30ns);
}

TEST(Bound, FollowsTheLongestChainOnTheFastestDevices) {
  // 0 -> 1 takes 3 + 4, and 2 takes 6.
  const Bounds bounds = bounds_of(
      problem_of(graph_of({{{3ns, 5ns}}, {{9ns, 4ns}, {0}}, {{6ns, 6ns}}}), machine_with({1, 1})));
  EXPECT_EQ(bounds.path, 7ns);
}

TEST(Bound, CountsTheWorkBetweenTheFirstOpAndTheLast) {
  // 0 -> five ops -> 6, each of 10, on two devices. Load: 70 / 2 = 35, so 40. Path: 30. But the
  // five lie between the others: 10 + 50 / 2 + 10 = 45, so 50.
  std::vector<OpOnKinds> ops = {{{10ns}}};
  for (int i = 0; i < 5; ++i) ops.push_back({{10ns}, {0}});
  ops.push_back({{10ns}, {1, 2, 3, 4, 5}});
  const Bounds bounds = bounds_of(problem_of(graph_of(ops), machine_with({1, 1})));
  EXPECT_EQ(bounds.load, 40ns);
  EXPECT_EQ(bounds.path, 30ns);
  EXPECT_EQ(bounds.interval, 50ns);
  EXPECT_EQ(bounds.communication, 50ns);
}

// Two ops of 10 whose values of so many bytes a third op of 10 reads.
std::vector<OpOnKinds> join_of(int64_t bytes) {
  return {{{10ns}, {}, bytes}, {{10ns}, {}, bytes}, {{10ns}, {0, 1}}};
}

TEST(Bound, LetsAJoinShareADeviceOrWait) {
  // Apart, the join waits for 10 + 8 and ends at 28; on one device all three take 30.
  const Bounds near = bounds_of(problem_of(graph_of(join_of(8)), machine_with({1, 1})));
  EXPECT_EQ(near.path, 20ns);
  EXPECT_EQ(near.interval, 20ns);
  EXPECT_EQ(near.communication, 28ns);
  // A transfer of 100 does not pay.
  EXPECT_EQ(bounds_of(problem_of(graph_of(join_of(100)), machine_with({1, 1}))).communication,
            30ns);
  // With two slots on a device it is not needed.
  EXPECT_EQ(bounds_of(problem_of(graph_of(join_of(100)), machine_with({2, 1}))).communication,
            20ns);
}

TEST(Bound, LetsAForkShareADeviceOrWait) {
  // The join turned round.
  const auto fork = graph_of({{{10ns}, {}, 8}, {{10ns}, {0}}, {{10ns}, {0}}});
  EXPECT_EQ(bounds_of(problem_of(fork, machine_with({1, 1}))).communication, 28ns);
}

TEST(Bound, KnowsOfPins) {
  // Both ops must run on d0, though d1 is just as good.
  const Constraints together{.pins = {{"o0", {"d0"}}, {"o1", {"d0"}}}};
  const Problem both = problem_of(graph_of({{{10ns}}, {{10ns}}}), machine_with({1, 1}), together);
  EXPECT_EQ(bounds_of(both).load, 20ns);
  // A chain that must change devices pays the transfer of 7.
  const Constraints apart{.pins = {{"o0", {"d0"}}, {"o1", {"d1"}}}};
  const Problem chain =
      problem_of(graph_of({{{10ns}, {}, 7}, {{10ns}, {0}}}), machine_with({1, 1}), apart);
  EXPECT_EQ(bounds_of(chain).path, 20ns);
  EXPECT_EQ(bounds_of(chain).communication, 27ns);
}

TEST(Bound, StaysTrueWherePinsTellTooManyDevicesApart) {
  // Twenty ops of 10, each with a device of its own: more devices than there may be classes.
  std::vector<OpOnKinds> ops;
  Constraints apart;
  for (int i = 0; i < 20; ++i) {
    ops.push_back({{10ns}});
    apart.pins.push_back({fmt::format("o{}", i), {fmt::format("d{}", i)}});
  }
  const Problem setting = problem_of(graph_of(ops), machine_with(std::vector<int>(20, 1)), apart);
  EXPECT_EQ(bounds_of(setting).strongest(), 10ns);
}

TEST(Bound, LetsReadersShareTheQuickestTransferOfAValue) {
  // Both edges carry one value; for one of them 9 is given, for the other 2. On d1, one transfer
  // may serve both.
  GraphBuilder builder = graph_of({{{10ns}}, {{10ns}, {0}}, {{10ns}, {0}}});
  builder.give_transfer(EdgeId{0}, {"", "", 9ns});
  builder.give_transfer(EdgeId{1}, {"", "", 2ns});
  const Constraints apart{.pins = {{"o0", {"d0"}}, {"o1", {"d1"}}, {"o2", {"d1"}}}};
  const Problem setting = problem_of(builder, machine_with({1, 2}), apart);
  EXPECT_EQ(bounds_of(setting).communication, 22ns);
}

TEST(Bound, CountsAnOpOnceThatSendsTwoValues) {
  // 0 makes values of 3 and 9 bytes, and 1 reads both. Together they take 20; apart, 1 waits for
  // the longer transfer.
  GraphBuilder builder("test");
  const GivenTime ten{"", 10ns};
  const ValueSpec sent[] = {{.bytes = 3}, {.bytes = 9}};
  const ValueId read[] = {ValueId{0}, ValueId{1}};
  builder.add_op({.name = "o0", .kind = "op", .outputs = sent, .run_times = {&ten, 1}});
  builder.add_op({.name = "o1", .kind = "op", .operands = read, .run_times = {&ten, 1}});
  EXPECT_EQ(bounds_of(problem_of(builder, machine_with({1, 1}))).communication, 20ns);
  const Constraints apart{.pins = {{"o0", {"d0"}}, {"o1", {"d1"}}}};
  EXPECT_EQ(bounds_of(problem_of(builder, machine_with({1, 1}), apart)).communication, 29ns);
}

TEST(Bound, ClaimsNothingForDevicesThatShareAMemory) {
  MachineSpec machine{.name = "test"};
  for (const char* name : {"d0", "d1"}) {
    machine.devices.push_back({.device = {.name = name, .kind = "cpu"}, .uses_host_memory = true});
  }
  EXPECT_EQ(bounds_of(problem_of(graph_of(join_of(100)), machine)).communication, 20ns);
}

}  // namespace
}  // namespace tutti
