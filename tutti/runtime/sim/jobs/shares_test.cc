#include "tutti/runtime/sim/jobs/shares.h"

#include <gtest/gtest.h>

#include "tutti/machine/preset.h"
#include "tutti/runtime/sim/links/flows.h"

namespace tutti {
namespace {

TEST(SharedFlows, AloneEverythingGoesAtFullSpeed) {
  SharedFlows flows({10.0});
  const Draw draw{0, 10};
  const int32_t flow = flows.join({&draw, 1}, 100, 7);
  EXPECT_EQ(flows.speed(flow), 1);
  EXPECT_EQ(flows.next_finish(), Duration(100));
  flows.advance(Duration(100));
  std::vector<int32_t> ended;
  flows.take_finished(ended);
  EXPECT_EQ(ended, std::vector<int32_t>{7});
  EXPECT_EQ(flows.next_finish(), kNever);
}

TEST(SharedFlows, WhoAsksForLessThanItsShareGetsAllOfIt) {
  // 10 to share: one asks for 2 and gets it; two ask for 8 and get 4 each.
  SharedFlows flows({10.0});
  const Draw little{0, 2};
  const Draw much{0, 8};
  const int32_t a = flows.join({&little, 1}, 100, 0);
  const int32_t b = flows.join({&much, 1}, 100, 1);
  const int32_t c = flows.join({&much, 1}, 100, 2);
  EXPECT_DOUBLE_EQ(flows.speed(a), 1);
  EXPECT_DOUBLE_EQ(flows.speed(b), 0.5);
  EXPECT_DOUBLE_EQ(flows.speed(c), 0.5);
  EXPECT_DOUBLE_EQ(flows.used()[0], 10);
  EXPECT_EQ(flows.full()[0], 1);
  EXPECT_EQ(flows.next_finish(), Duration(100));
  // The first leaves: the others get 5 of 8.
  flows.advance(Duration(50));
  flows.leave(a);
  EXPECT_DOUBLE_EQ(flows.speed(b), 0.625);
}

TEST(SharedFlows, AFlowIsAsSlowAsTheScarcestThingItDrawsOn) {
  // a draws on core and memory, b on memory alone: memory of 10 is divided 5 and 5, so that a,
  // which wanted 8, goes at 0.625 and leaves its core with 0.5 of 0.8.
  SharedFlows flows({1.0, 10.0});
  const Draw a_draws[] = {{0, 0.8}, {1, 8}};
  const Draw b_draws[] = {{1, 8}};
  const int32_t a = flows.join(a_draws, 100, 0);
  const int32_t b = flows.join(b_draws, 100, 1);
  EXPECT_DOUBLE_EQ(flows.speed(a), 0.625);
  EXPECT_DOUBLE_EQ(flows.speed(b), 0.625);
  EXPECT_DOUBLE_EQ(flows.used()[0], 0.5);
  EXPECT_EQ(flows.full()[0], 0);
}

// Transfers alone are shared as the simulator of single graphs shares them.
TEST(SharedFlows, TransfersAreSharedAsBetweenTheChannelsOfTheOtherSimulator) {
  const Result<Machine> preset = make_preset("p100-4");
  ASSERT_TRUE(preset) << preset.error().message;
  MachineSpec spec = preset->spec();
  for (auto& link : spec.links) {
    if (link.bytes_per_s > 0) link.sharing = Sharing::shared;
  }
  const Result<Machine> machine = Machine::build(spec);
  ASSERT_TRUE(machine) << machine.error().message;
  const SharedResources shared(*machine);
  // Four transfers at once through the bridge, of different sizes.
  const int pairs[][2] = {{0, 1}, {0, 2}, {2, 1}, {3, 0}};
  std::vector<double> capacities;
  for (const SharedResource& item : shared.list()) capacities.push_back(item.capacity);
  SharedFlows ours(capacities);
  Flows theirs(*machine);
  std::vector<std::vector<Draw>> draws(4);
  for (int i = 0; i < 4; ++i) {
    const MemoryId from = machine->memory_of(DeviceId{pairs[i][0]});
    const MemoryId to = machine->memory_of(DeviceId{pairs[i][1]});
    const Hop& hop = machine->route(from, to)->hops[0];
    const double bytes = 1e6 * (i + 1);
    shared.add_hop(from, hop, 1e9 / hop.ns_per_byte, draws[i]);
    ours.join(draws[i], bytes * hop.ns_per_byte, i);
    theirs.join(Duration(0), i, hop, bytes);
  }
  Duration now{0};
  for (int ended = 0; ended < 4;) {
    const Duration next = ours.next_finish();
    EXPECT_NEAR(static_cast<double>(next.count()),
                static_cast<double>(theirs.next_finish(now).count()), 2);
    std::vector<int32_t> mine;
    std::vector<int32_t> other;
    now = std::max(next, theirs.next_finish(now));
    ours.advance(now);
    ours.take_finished(mine);
    theirs.advance(now, other);
    ASSERT_EQ(mine, other);
    ended += static_cast<int>(mine.size());
  }
}

}  // namespace
}  // namespace tutti
