#include "tutti/calibrate/observe.h"

#include <gtest/gtest.h>

#include "tutti/plan/testing.h"

namespace tutti {
namespace {

using testing::ns;
using testing::World;

Trace trace_of(std::vector<OpSpan> ops, std::vector<TransferSpan> transfers) {
  Trace trace;
  trace.ops = std::move(ops);
  trace.transfers = std::move(transfers);
  return trace;
}

MachineSpec two_devices() {
  MachineSpec spec{.name = "m"};
  for (const char* name : {"d0", "d1"}) {
    spec.devices.push_back({.device = {.name = name, .kind = "gpu", .flops_per_s = 1e9}});
  }
  spec.links.push_back(
      {.name = "cable", .ends = {"d0", "d1"}, .latency = ns(5), .bytes_per_s = 1e9});
  return spec;
}

// a on d0 makes two values; b on d0 and c on d1 read the first, c the second too.
Graph three_ops() {
  GraphBuilder builder("three");
  const std::vector<ValueSpec> two = {{.name = "v", .bytes = 100}, {.name = "w", .bytes = 200}};
  const std::vector<ValueSpec> one = {{.bytes = 10}};
  const OpId a = builder.add_op({.name = "a", .kind = "k", .outputs = two, .flops = 10});
  const ValueId v = *builder.outputs(a).begin();
  const std::vector<ValueId> first = {v};
  const std::vector<ValueId> both = {v, ValueId{v.index + 1}};
  builder.add_op({.name = "b", .kind = "k", .operands = first, .outputs = one, .flops = 10});
  builder.add_op({.name = "c", .kind = "k", .operands = both, .outputs = one, .flops = 10});
  return std::move(builder).build().value();
}

TEST(Observe, CountsFromTheMomentAnOpCouldStart) {
  const World world(three_ops(), two_devices());
  const Observed observed = observe(
      world.problem(),
      trace_of({{.op = OpId{0}, .device = DeviceId{0}, .start = ns(30), .finish = ns(100)},
                {.op = OpId{1}, .device = DeviceId{0}, .start = ns(104), .finish = ns(150)},
                {.op = OpId{2}, .device = DeviceId{1}, .start = ns(470), .finish = ns(500)}},
               {{.value = ValueId{0},
                 .from = MemoryId{1},
                 .to = MemoryId{2},
                 .start = ns(110),
                 .finish = ns(215)},
                {.value = ValueId{1},
                 .from = MemoryId{1},
                 .to = MemoryId{2},
                 .start = ns(220),
                 .finish = ns(460)}}));
  ASSERT_EQ(observed.ops.size(), 3u);
  // The first waits for the run to start, which is not its own time.
  EXPECT_EQ(observed.ops[0].ns, 70);
  // b could start when a ended, at 100; c when its last operand came, at 460.
  EXPECT_EQ(observed.ops[1].ns, 50);
  EXPECT_EQ(observed.ops[2].ns, 40);
  // v could go when it was made, at 100; w had to wait for the cable, until 215.
  ASSERT_EQ(observed.hops.size(), 2u);
  EXPECT_EQ(observed.hops[0].ns, 115);
  EXPECT_EQ(observed.hops[0].bytes, 100);
  EXPECT_EQ(observed.hops[1].ns, 245);
  EXPECT_EQ(hop_name(world.problem().machine, *observed.hops[0].hop), "cable>");
}

TEST(Observe, CountsFromThePlacingOfAnOnlinePolicy) {
  const World world(three_ops(), two_devices());
  Trace trace =
      trace_of({{.op = OpId{0}, .device = DeviceId{0}, .start = ns(0), .finish = ns(100)},
                {.op = OpId{1}, .device = DeviceId{0}, .start = ns(140), .finish = ns(200)}},
               {});
  trace.placed = {{.op = OpId{1}, .time = ns(130)}};
  EXPECT_EQ(observe(world.problem(), trace).ops[1].ns, 70);
}

TEST(Observe, CountsFromTheStartWhereAnOpMayHaveWaitedForRoom) {
  for (const int64_t bytes : {319, 320}) {  // the values of all ops have 320
    MachineSpec spec = two_devices();
    spec.devices[0].memory_bytes = bytes;
    const World world(three_ops(), spec);
    const Trace trace =
        trace_of({{.op = OpId{0}, .device = DeviceId{0}, .start = ns(0), .finish = ns(100)},
                  {.op = OpId{1}, .device = DeviceId{0}, .start = ns(140), .finish = ns(200)}},
                 {});
    EXPECT_EQ(observe(world.problem(), trace).ops[1].ns, bytes < 320 ? 60 : 100);
  }
}

TEST(Observe, LeavesOutHopsThatSharedTheirBandwidth) {
  MachineSpec spec = two_devices();
  spec.links[0].sharing = Sharing::shared;
  const World world(three_ops(), spec);
  const auto hop = [](int32_t value, int64_t start, int64_t finish) {
    return TransferSpan{.value = ValueId{value},
                        .from = MemoryId{1},
                        .to = MemoryId{2},
                        .start = ns(start),
                        .finish = ns(finish)};
  };
  const OpSpan a{.op = OpId{0}, .device = DeviceId{0}, .start = ns(0), .finish = ns(100)};
  EXPECT_EQ(
      observe(world.problem(), trace_of({a}, {hop(0, 100, 200), hop(1, 150, 300)})).hops.size(),
      0u);
  EXPECT_EQ(
      observe(world.problem(), trace_of({a}, {hop(0, 100, 200), hop(1, 200, 300)})).hops.size(),
      2u);
}

}  // namespace
}  // namespace tutti
