#include "tutti/report/lanes.h"

#include <gtest/gtest.h>

#include "tutti/trace/testing.h"

namespace tutti {
namespace {

using namespace testing;  // the small world

TEST(Lanes, AreSlotsThenChannelsThatCarriedSomething) {
  const World world(small_graph(), small_machine());
  const std::vector<Lane> lanes = lay_out_lanes(world.problem(), small_trace(world.problem()));
  std::vector<std::string> names;
  for (const Lane& lane : lanes) names.push_back(lane.name + " " + std::to_string(lane.row));
  EXPECT_EQ(names, (std::vector<std::string>{"gpu0 0", "gpu1 0", "cpu0 0", "cpu0 1", "to-gpu0> 0",
                                             "to-gpu0< 0", "to-gpu1> 0", "to-gpu1< 0"}));
  EXPECT_EQ(lanes[0].spans, (std::vector<int32_t>{0, 1}));
  EXPECT_TRUE(lanes[3].spans.empty());  // an idle slot is worth seeing
  EXPECT_EQ(lanes[5].spans, (std::vector<int32_t>{kMoveA0, kMoveB0}));
  for (const Lane& lane : lanes) EXPECT_FALSE(lane.overlapping) << lane.name;
}

TEST(Lanes, OfOneChannelAreNoMoreThanAPersonCanRead) {
  const World world(small_graph(), small_machine(Sharing::shared));
  Trace trace = empty_trace(world.problem());
  for (int i = 0; i < 20; ++i) {  // all at once
    trace.transfers.push_back({kX, kHost, kOnGpu0, 0, false, ns(i), ns(100)});
  }
  const std::vector<Lane> lanes = lay_out_lanes(world.problem(), trace);
  ASSERT_EQ(lanes.size(), 4 + kMostRows);
  EXPECT_EQ(lanes[4].spans.size(), 1);
  EXPECT_EQ(lanes.back().spans.size(), 20 - (kMostRows - 1));
  EXPECT_TRUE(lanes.back().overlapping);
}

TEST(Lanes, ShowTransfersThatHoldNoChannel) {
  const World world(small_graph(), small_machine());
  Trace trace = empty_trace(world.problem());
  trace.transfers = {{kFromA, kOnGpu0, kOnGpu1, 0, /*given=*/true, ns(0), ns(5)}};
  const std::vector<Lane> lanes = lay_out_lanes(world.problem(), trace);
  ASSERT_EQ(lanes.size(), 5);
  EXPECT_EQ(lanes.back().name, "transfers");
}

TEST(Lanes, LeaveOutIdleSlotsOfWideDevices) {
  MachineSpec machine = small_machine();
  machine.devices[2].device.slots = 1000;
  const World world(small_graph(), machine);
  Trace trace = empty_trace(world.problem());
  trace.ops = {{kA, kCpu0, 700, ns(0), ns(400)}};
  const std::vector<Lane> lanes = lay_out_lanes(world.problem(), trace);
  ASSERT_EQ(lanes.size(), 4);  // two gpus, and slots 0 and 700
  EXPECT_EQ(lanes.back().row, 700);
  EXPECT_EQ(lanes.back().rows, 2);
}

}  // namespace
}  // namespace tutti
