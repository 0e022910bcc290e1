// Which rank serves which host.

#include "tutti/runtime/starpu/layout.h"

#include <gtest/gtest.h>

#include "test/support/world.h"
#include "tutti/runtime/starpu/records.h"

namespace tutti {
namespace {

Machine two_hosts(const char* kind = "cpu") {
  MachineSpec spec{.name = "two", .hosts = {{.name = "alpha"}, {.name = "beta"}}};
  for (const char* host : {"alpha", "beta"}) {
    spec.devices.push_back({.device = {.name = std::string(host) + ".cpu", .kind = kind},
                            .host = host,
                            .uses_host_memory = true});
  }
  spec.links.push_back({.name = "cable", .ends = {"alpha", "beta"}, .bytes_per_s = 1e9});
  return must(Machine::build(std::move(spec)));
}

TEST(Layout, PairsHostsAndRanksByName) {
  const Machine machine = two_hosts();
  const Layout layout = must(Layout::make(machine, {"beta", "alpha"}));
  EXPECT_EQ(layout.rank_of(HostId{0}), 1);
  EXPECT_EQ(layout.rank_of(DeviceId{1}), 0);
  EXPECT_EQ(layout.devices_of(0), std::vector<DeviceId>{DeviceId{1}});
  EXPECT_TRUE(layout.one_memory_each());
}

TEST(Layout, PairsThemInOrderWhereNamesDiffer) {
  const Machine machine = two_hosts();
  EXPECT_EQ(must(Layout::make(machine, {"beta", "gamma"})).rank_of(HostId{1}), 1);
  EXPECT_EQ(must(Layout::make(machine, {"beta", "beta"})).rank_of(HostId{1}), 1);
}

TEST(Layout, LetsOneRankServeAllHosts) {
  const Machine machine = two_hosts();
  const Layout layout = must(Layout::make(machine, {"elsewhere"}));
  EXPECT_EQ(layout.rank_of(HostId{1}), 0);
  EXPECT_FALSE(layout.one_memory_each());
}

TEST(Layout, RefusesWhatRanksCannotServe) {
  const Machine machine = two_hosts();
  const Result<Layout> three = Layout::make(machine, {"a", "b", "c"});
  ASSERT_FALSE(three);
  EXPECT_EQ(three.error().message,
            "machine 'two' has 2 hosts, but 3 ranks were started; start one rank for each host, or "
            "a single one");
  EXPECT_FALSE(Layout::make(two_hosts("gpu"), {"a", "b"}));
}

// Two ranks, whose clocks have been made one: a runs on the first from 105 to 110, its value is
// sent at 111 and received by the second at 112, where b runs from 113 to 120.
TEST(Records, OfAllRanksBecomeOneTrace) {
  const World world(
      graph_from(R"("ops":[{"name":"a","kind":"k","run_time_ns":5,"outputs":[{"bytes":8}]},
                           {"name":"b","kind":"k","run_time_ns":5,"operands":["a"]}])"),
      two_hosts());
  const auto ns = [](int64_t count) { return Duration(count); };
  TransferSpan message{.value = ValueId{0}, .from = MemoryId{0}, .to = MemoryId{1}};
  message.start = ns(111);
  message.finish = kNever;
  RankRecords first{.began = ns(100),
                    .ops = {{OpId{0}, DeviceId{0}, 0, ns(105), ns(110)}},
                    .transfers = {message}};
  message.start = kNever;
  message.finish = ns(112);
  RankRecords second{.began = ns(101),
                     .ops = {{OpId{1}, DeviceId{1}, 0, ns(113), ns(120)}},
                     .transfers = {message}};
  const std::vector<RankRecords> records = {records_from(to_bytes(second)),
                                            records_from(to_bytes(first))};
  const Trace trace = to_trace(*world.problem, /*scheduler=*/"", records);
  EXPECT_EQ(trace.makespan, ns(20));
  ASSERT_EQ(trace.ops.size(), 2U);
  EXPECT_EQ(trace.ops[0].start, ns(5));
  ASSERT_EQ(trace.transfers.size(), 1U);
  EXPECT_EQ(trace.transfers[0].start, ns(11));
  EXPECT_EQ(trace.transfers[0].finish, ns(12));
}

}  // namespace
}  // namespace tutti
