#include "tutti/trace/stats.h"

#include <gtest/gtest.h>

#include "tutti/trace/testing.h"

namespace tutti {
namespace {

using namespace testing;

class SmallStats : public ::testing::Test {
 protected:
  World world_{small_graph(), small_machine()};
  TraceStats stats_ = trace_stats(world_.problem(), small_trace(world_.problem()));
};

TEST_F(SmallStats, CountEveryTransferOnceWhateverItsHops) {
  EXPECT_EQ(stats_.makespan, ns(1150));
  EXPECT_EQ(stats_.transfer_count, 4);
  EXPECT_EQ(stats_.bytes_moved, 400);
}

TEST_F(SmallStats, SayWhyDevicesWereIdle) {
  // gpu0 waits for x until 110 and has nothing to do from 310 on.
  const DeviceStats& gpu0 = stats_.devices[kGpu0.index];
  EXPECT_EQ(gpu0.ops, 2);
  EXPECT_DOUBLE_EQ(gpu0.busy_share, 200.0 / 1150);
  EXPECT_DOUBLE_EQ(gpu0.waiting_for_data, 110.0 / 1150);
  EXPECT_DOUBLE_EQ(gpu0.waiting_for_ops, 0);
  EXPECT_DOUBLE_EQ(gpu0.finished, 840.0 / 1150);
  // gpu1 waits for a to be made until 210 and to arrive until 430; then for b from 530 to 540.
  const DeviceStats& gpu1 = stats_.devices[kGpu1.index];
  EXPECT_DOUBLE_EQ(gpu1.waiting_for_ops, 210.0 / 1150);
  EXPECT_DOUBLE_EQ(gpu1.waiting_for_data, 230.0 / 1150);
  EXPECT_DOUBLE_EQ(gpu1.waiting_for_memory, 0);
  EXPECT_DOUBLE_EQ(gpu1.finished, 510.0 / 1150);
  // cpu0 has two slots, one of which has nothing left to start at the end.
  const DeviceStats& cpu0 = stats_.devices[kCpu0.index];
  EXPECT_DOUBLE_EQ(cpu0.busy_share, 400.0 / 2300);
  EXPECT_DOUBLE_EQ(cpu0.waiting_for_ops, 1280.0 / 2300);
  EXPECT_DOUBLE_EQ(cpu0.waiting_for_data, 220.0 / 2300);
  EXPECT_DOUBLE_EQ(cpu0.finished, 400.0 / 2300);
}

TEST_F(SmallStats, AccountForAllTheTimeOfEveryDevice) {
  for (const DeviceStats& device : stats_.devices) {
    EXPECT_DOUBLE_EQ(device.busy_share + device.waiting_for_data + device.waiting_for_ops +
                         device.waiting_for_memory + device.waiting_for_order + device.finished,
                     1);
  }
}

TEST_F(SmallStats, SayHowBusyEachChannelWas) {
  ASSERT_EQ(stats_.channel_busy_share.size(), 4u);
  EXPECT_DOUBLE_EQ(stats_.channel_busy_share[0], 110.0 / 1150);  // host to gpu0
  EXPECT_DOUBLE_EQ(stats_.channel_busy_share[1], 220.0 / 1150);  // gpu0 to host
  EXPECT_DOUBLE_EQ(stats_.channel_busy_share[2], 220.0 / 1150);  // host to gpu1
  EXPECT_DOUBLE_EQ(stats_.channel_busy_share[3], 110.0 / 1150);  // gpu1 to host
}

TEST_F(SmallStats, KnowThePeakOfEachMemory) {
  // host: d and e. gpu0: the weight, x, a. gpu1: a, b, c.
  EXPECT_EQ(stats_.peak_memory_bytes, (std::vector<int64_t>{200, 250, 300}));
}

// e has its operands in the host's memory from 750 on, but starts at 800.
TraceStats stats_of_late_e(int64_t host_bytes) {
  Constraints constraints;
  constraints.memory_limits = {{.memory = "host", .bytes = host_bytes}};
  const World world(small_graph(), small_machine(), constraints);
  Trace trace = small_trace(world.problem());
  stand_still(trace, ns(750), ns(50));
  return trace_stats(world.problem(), trace);
}

TEST(Stats, PutTimeWithoutRoomDownToMemory) {
  // d is there with 100 bytes, and e makes 100 more.
  const TraceStats stats = stats_of_late_e(199);
  EXPECT_DOUBLE_EQ(stats.devices[kCpu0.index].waiting_for_memory, 100.0 / 2400);
  EXPECT_DOUBLE_EQ(stats.devices[kCpu0.index].waiting_for_order, 0);
}

TEST(Stats, PutTimeWithRoomDownToTheOrder) {
  for (const int64_t bytes : {int64_t{200}, kUnlimitedBytes}) {
    const TraceStats stats = stats_of_late_e(bytes);
    EXPECT_DOUBLE_EQ(stats.devices[kCpu0.index].waiting_for_memory, 0);
    EXPECT_DOUBLE_EQ(stats.devices[kCpu0.index].waiting_for_order, 100.0 / 2400);
  }
}

TEST(Stats, KnowNoMemoryInTheReleasedModel) {
  const World world(small_graph(), small_machine());
  Trace trace = small_trace(world.problem());
  trace.runtime = runtime_from_text("sim/released");
  EXPECT_TRUE(trace_stats(world.problem(), trace).peak_memory_bytes.empty());
}

TEST(Stats, OfAnEmptyRunAreFinished) {
  const World world(GraphBuilder("nothing").build().value(), small_machine());
  const TraceStats stats = trace_stats(world.problem(), empty_trace(world.problem()));
  EXPECT_EQ(stats.makespan, ns(0));
  for (const DeviceStats& device : stats.devices) EXPECT_EQ(device.finished, 1);
}

}  // namespace
}  // namespace tutti
