#include "tutti/machine/machine.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "tutti/machine/testing.h"
#include "tutti/machine/units.h"

namespace tutti {
namespace {

using testing::gpu;
using testing::route_text;

// a - switch - b, each link 10 GB/s with 3 us, the switch 12 GB/s shared.
MachineSpec two_behind_a_switch() {
  MachineSpec spec;
  spec.devices = {gpu("a"), gpu("b")};
  spec.switches = {{.name = "s", .bytes_per_s = 12e9}};
  for (const std::string end : {"a", "b"}) {
    spec.links.push_back({.name = end + "-s",
                          .ends = {end, "s"},
                          .latency = std::chrono::microseconds(3),
                          .bytes_per_s = 10e9});
  }
  return spec;
}

TEST(Machine, OfOneDeviceNeedsNoLinks) {
  const auto machine = Machine::build({.devices = {gpu("only")}});
  ASSERT_TRUE(machine) << machine.error().message;
  EXPECT_EQ(machine->size(), 1);
  ASSERT_EQ(machine->hosts().size(), 1u);
  EXPECT_EQ(machine->hosts()[0].name, "host");
  EXPECT_EQ(machine->memory_count(), 2);
  EXPECT_EQ(machine->route(machine->host_memory(), machine->memory_of(DeviceId{0})), nullptr);
}

TEST(Machine, JoinsLinksThatMeetInASwitchIntoOneHop) {
  const auto machine = Machine::build(two_behind_a_switch());
  ASSERT_TRUE(machine) << machine.error().message;
  EXPECT_EQ(route_text(*machine, "a", "b"), "a-s> s b-s<");
  EXPECT_EQ(route_text(*machine, "b", "a"), "b-s> s a-s<");
  const Route* route =
      machine->route(machine->memory_of(DeviceId{0}), machine->memory_of(DeviceId{1}));
  EXPECT_EQ(route->hops[0].latency, std::chrono::microseconds(6));
  EXPECT_DOUBLE_EQ(route->hops[0].ns_per_byte, 0.1);  // 10 GB/s is the least on the way
  EXPECT_EQ(route->hops[0].shared.size(), 1u);
  EXPECT_EQ(route->hops[0].to, machine->memory_of(DeviceId{1}));
}

TEST(Machine, HasAnEmptyRouteWithinOneMemory) {
  const auto machine = Machine::build(two_behind_a_switch());
  ASSERT_TRUE(machine) << machine.error().message;
  const MemoryId memory = machine->memory_of(DeviceId{0});
  ASSERT_NE(machine->route(memory, memory), nullptr);
  EXPECT_TRUE(machine->route(memory, memory)->hops.empty());
}

TEST(Machine, EndsAHopInAHostsMemory) {
  MachineSpec spec{.devices = {gpu("a"), gpu("b")}};
  spec.links = {{.name = "la", .ends = {"a", "host"}}, {.name = "lb", .ends = {"b", "host"}}};
  const auto machine = Machine::build(spec);
  ASSERT_TRUE(machine) << machine.error().message;
  EXPECT_EQ(route_text(*machine, "a", "b"), "la> | lb<");
}

TEST(Machine, NeverRoutesThroughADevicesOwnMemory) {
  // a - b - c in a row, and a detour from a to c over three switches.
  MachineSpec spec{.devices = {gpu("a"), gpu("b"), gpu("c")}};
  spec.switches = {{.name = "s0"}, {.name = "s1"}, {.name = "s2"}};
  spec.links = {{.name = "ab", .ends = {"a", "b"}},    {.name = "bc", .ends = {"b", "c"}},
                {.name = "as0", .ends = {"a", "s0"}},  {.name = "s01", .ends = {"s0", "s1"}},
                {.name = "s12", .ends = {"s1", "s2"}}, {.name = "s2c", .ends = {"s2", "c"}}};
  const auto machine = Machine::build(spec);
  ASSERT_TRUE(machine) << machine.error().message;
  EXPECT_EQ(route_text(*machine, "a", "c"), "as0> s01> s12> s2c>");
}

TEST(Machine, HoldsCopyEnginesAtBothEndsOfAHop) {
  MachineSpec spec = two_behind_a_switch();
  spec.devices[0].copy_engines = 2;
  spec.devices[1].copy_engines = 1;
  const auto machine = Machine::build(spec);
  ASSERT_TRUE(machine) << machine.error().message;
  EXPECT_EQ(route_text(*machine, "a", "b"), "a.copy-out a-s> s b-s< b.copy");
  EXPECT_EQ(route_text(*machine, "b", "a"), "b.copy b-s> s a-s< a.copy-in");
}

TEST(Machine, GivesBothDirectionsOfAHalfDuplexLinkOneChannel) {
  MachineSpec spec{.devices = {gpu("a"), gpu("b")}};
  spec.links = {{.name = "bus", .ends = {"a", "b"}, .full_duplex = false}};
  const auto machine = Machine::build(spec);
  ASSERT_TRUE(machine) << machine.error().message;
  EXPECT_EQ(machine->channel_count(), 1);
  EXPECT_EQ(route_text(*machine, "a", "b"), "bus");
  EXPECT_EQ(route_text(*machine, "b", "a"), "bus");
}

TEST(Machine, LetsSeveralDevicesWorkOnTheHostsMemory) {
  MachineSpec spec{.devices = {gpu("cpu0"), gpu("cpu1"), gpu("far")}};
  spec.devices[0].uses_host_memory = spec.devices[1].uses_host_memory = true;
  spec.links = {{.name = "l", .ends = {"cpu1", "far"}}};  // ends at the host's memory
  const auto machine = Machine::build(spec);
  ASSERT_TRUE(machine) << machine.error().message;
  EXPECT_EQ(machine->memory_of(DeviceId{0}), machine->host_memory());
  EXPECT_EQ(machine->memory_of(DeviceId{1}), machine->host_memory());
  EXPECT_EQ(route_text(*machine, "cpu0", "far"), "l>");
}

TEST(Machine, TakesAWrittenRouteInItsDirectionOnly) {
  MachineSpec spec = two_behind_a_switch();
  spec.links.push_back({.name = "s-host", .ends = {"s", "host"}});
  spec.routes = {{.from = "a", .to = "b", .hops = {{"a-s", "s", "s-host"}, {"s-host", "b-s"}}}};
  const auto machine = Machine::build(spec);
  ASSERT_TRUE(machine) << machine.error().message;
  EXPECT_EQ(route_text(*machine, "a", "b"), "a-s> s s-host> | s-host< s b-s<");
  EXPECT_EQ(route_text(*machine, "b", "a"), "b-s> s a-s<");
}

TEST(Machine, TreatsASharedLinkWithoutALimitAsUnlimited) {
  MachineSpec spec{.devices = {gpu("a"), gpu("b")}};
  spec.links = {{.name = "l", .ends = {"a", "b"}, .sharing = Sharing::shared}};
  const auto machine = Machine::build(spec);
  ASSERT_TRUE(machine) << machine.error().message;
  EXPECT_EQ(machine->channel(ChannelId{0}).sharing, Sharing::unlimited);
}

TEST(Machine, FingerprintSeesEveryPartOfTheSpec) {
  const auto print_of = [](const std::function<void(MachineSpec&)>& change) {
    MachineSpec spec = two_behind_a_switch();
    change(spec);
    const auto machine = Machine::build(spec);
    EXPECT_TRUE(machine) << machine.error().message;
    return machine ? machine->fingerprint() : 0;
  };
  const uint64_t plain = print_of([](MachineSpec&) {});
  EXPECT_EQ(plain, print_of([](MachineSpec& s) { s.links[0].line = 7; }));
  EXPECT_EQ(plain, print_of([](MachineSpec& s) { s.hosts = {{.name = "host"}}; }));
  EXPECT_NE(plain, print_of([](MachineSpec& s) { s.name = "other"; }));
  EXPECT_NE(plain, print_of([](MachineSpec& s) { s.hosts = {{"host", 5}}; }));
  EXPECT_NE(plain, print_of([](MachineSpec& s) { s.devices[1].device.slots = 2; }));
  EXPECT_NE(plain, print_of([](MachineSpec& s) { s.devices[1].memory_bytes = 9; }));
  EXPECT_NE(plain, print_of([](MachineSpec& s) { s.switches[0].sharing = Sharing::exclusive; }));
  EXPECT_NE(plain, print_of([](MachineSpec& s) { s.links[0].latency = Duration(1); }));
  EXPECT_NE(plain, print_of([](MachineSpec& s) { s.links[1].full_duplex = false; }));
  EXPECT_NE(plain, print_of([](MachineSpec& s) {
              s.routes = {{.from = "a", .to = "b", .hops = {{"a-s", "b-s"}}}};
            }));
}

struct BadSpec {
  const char* claim;
  std::function<void(MachineSpec&)> spoil;
  const char* says;
};

TEST(Machine, RefusesWhatMakesNoSenseInOneSentence) {
  using Spec = MachineSpec;
  const double nan = std::nan("");
  const BadSpec cases[] = {
      {"no device", [](Spec& s) { s.devices.clear(); }, "at least one device"},
      {"a name twice", [](Spec& s) { s.devices[1].device.name = "a"; }, "name of another device"},
      {"a link named like a device", [](Spec& s) { s.links[0].name = "a"; }, "another device"},
      {"a link named like an engine",
       [](Spec& s) {
         s.devices[0].copy_engines = 1;
         s.links[0].name = "a.copy";
       },
       "another copy engine"},
      {"no name", [](Spec& s) { s.switches[0].name = ""; }, "needs a name"},
      {"a plus sign", [](Spec& s) { s.links[0].name = "x+y"; }, "needs a name without '+'"},
      {"no kind", [](Spec& s) { s.devices[0].device.kind = ""; }, "needs a kind"},
      {"an absent host", [](Spec& s) { s.devices[0].host = "h"; }, "host 'h', which the machine"},
      {"an absent end", [](Spec& s) { s.links[0].ends[1] = "x"; }, "ends at 'x'"},
      {"a loop", [](Spec& s) { s.links[0].ends[1] = "a"; }, "remove it"},
      {"no slots", [](Spec& s) { s.devices[0].device.slots = 0; }, "slots of device 'a'"},
      {"many slots", [](Spec& s) { s.devices[0].device.slots = 1025; }, "from 1 to 1024"},
      {"NaN", [=](Spec& s) { s.devices[0].device.flops_per_s = nan; }, "flops_per_s of device"},
      {"infinity", [](Spec& s) { s.links[0].bytes_per_s = INFINITY; }, "finite"},
      {"a negative rate", [](Spec& s) { s.switches[0].bytes_per_s = -1; }, "at least 1"},
      {"a tiny rate", [](Spec& s) { s.links[0].bytes_per_s = 1e-300; }, "at least 1"},
      {"a negative time", [](Spec& s) { s.links[0].latency = Duration(-1); }, "latency_ns"},
      {"no capacity", [](Spec& s) { s.links[0].capacity = 0; }, "capacity of link"},
      {"no memory", [](Spec& s) { s.devices[0].memory_bytes = 0; }, "memory_bytes"},
      {"three engines", [](Spec& s) { s.devices[0].copy_engines = 3; }, "copy_engines"},
      {"engines on the host",
       [](Spec& s) {
         s.devices[0].uses_host_memory = true;
         s.devices[0].copy_engines = 2;
       },
       "uses its host's memory"},
      {"nothing between two", [](Spec& s) { s.links.pop_back(); },
       "nothing connects device 'a' to device 'b'; add a link"},
      {"too many devices", [](Spec& s) { s.devices.resize(5000); }, "at most 4096"},
      {"too many memories",
       [](Spec& s) {
         while (s.devices.size() < 1025) {
           s.devices.push_back(gpu(fmt::format("g{}", s.devices.size())));
         }
       },
       "at most 1024"},
      {"a way of 33 links",
       [](Spec& s) {
         s.links[1].ends[1] = "s30";
         for (int i = 0; i <= 30; ++i) {
           const std::string name = fmt::format("s{}", i);
           s.switches.push_back({.name = name});
           s.links.push_back({.name = fmt::format("l{}", name),
                              .ends = {i == 0 ? "s" : fmt::format("s{}", i - 1), name}});
         }
       },
       "takes 33 links"},
      {"a route to a switch",
       [](Spec& s) {
         s.routes = {{"a", "s", {{"a-s"}}}};
       },
       "'s'"},
      {"a route to itself",
       [](Spec& s) {
         s.routes = {{"a", "a", {{"a-s"}}}};
       },
       "one memory"},
      {"a route without hops",
       [](Spec& s) {
         s.routes = {{"a", "b", {}}};
       },
       "does not end there"},
      {"a route with gaps",
       [](Spec& s) {
         s.routes = {{"a", "b", {{"b-s"}}}};
       },
       "cannot go on"},
      {"a hop that ends at a switch",
       [](Spec& s) {
         s.routes = {{"a", "b", {{"a-s"}, {"b-s"}}}};
       },
       "holds no values"},
      {"a route that turns",
       [](Spec& s) {
         s.routes = {{"a", "b", {{"a-s", "a-s"}}}};
       },
       "comes back"},
      {"a hop through a memory",
       [](Spec& s) {
         s.links.push_back({.name = "ah", .ends = {"a", "host"}});
         s.links.push_back({.name = "hb", .ends = {"host", "b"}});
         s.routes = {{"a", "b", {{"ah", "hb"}}}};
       },
       "begin a new hop"},
      {"a route twice",
       [](Spec& s) {
         s.routes = {{"a", "b", {{"a-s", "b-s"}}}, {"a", "b", {{"a-s", "b-s"}}}};
       },
       "stands twice"},
  };
  for (const BadSpec& bad : cases) {
    MachineSpec spec = two_behind_a_switch();
    bad.spoil(spec);
    const auto machine = Machine::build(std::move(spec));
    ASSERT_FALSE(machine) << bad.claim;
    EXPECT_EQ(machine.error().kind, Error::Kind::invalid_input) << bad.claim;
    EXPECT_NE(machine.error().message.find(bad.says), std::string::npos)
        << bad.claim << ": " << machine.error().message;
    EXPECT_EQ(machine.error().message.find('\n'), std::string::npos) << bad.claim;
  }
}

TEST(Units, TellDevicesOfOneKindApart) {
  const auto cpus = [](std::vector<int> units) {
    MachineSpec spec{.name = "m", .hosts = {{.name = "host"}}};
    for (const int count : units) {
      spec.devices.push_back({.device = {.name = "c" + std::to_string(spec.devices.size()),
                                         .kind = "cpu",
                                         .units = count,
                                         .flops_per_s = 1e9},
                              .uses_host_memory = true});
    }
    return units_text(Machine::build(std::move(spec)).value());
  };
  EXPECT_EQ(cpus({2, 2}), "cpu:2");
  EXPECT_EQ(cpus({4, 2}), "cpu:2+4");
  EXPECT_EQ(cpus({0}), "");
  EXPECT_EQ(first_difference("cpu:2", "cpu:2, gpu:8"), "");
  EXPECT_EQ(first_difference("cpu:2, gpu:4", "cpu:2, gpu:8"), "gpu:4");
  EXPECT_EQ(first_difference("", "cpu:2"), "");
}

}  // namespace
}  // namespace tutti
