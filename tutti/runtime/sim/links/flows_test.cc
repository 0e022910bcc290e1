// Flows against a plain fluid model: rates by progressive filling, time in small exact steps from
// one change to the next.

#include "tutti/runtime/sim/links/flows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "tutti/base/random.h"
#include "tutti/machine/spec.h"

namespace tutti {
namespace {

struct Arrival {
  Duration time;
  const Hop* hop;
  double bytes;
};

MachineSpec devices(int count) {
  MachineSpec spec;
  for (int i = 0; i < count; ++i) {
    MachineSpec::DeviceSpec device;
    device.device.name = "d" + std::to_string(i);
    device.device.kind = "cpu";
    spec.devices.push_back(device);
  }
  return spec;
}

MachineSpec::LinkSpec shared_link(const std::string& a, const std::string& b, double bytes_per_s) {
  MachineSpec::LinkSpec link;
  link.name = a + "-" + b;
  link.ends[0] = a;
  link.ends[1] = b;
  link.bytes_per_s = bytes_per_s;
  link.sharing = Sharing::shared;
  link.full_duplex = false;
  return link;
}

// When each arrival ends, by the model's own arithmetic: no rounding to whole nanoseconds.
std::vector<double> fluid(const Machine& machine, const std::vector<Arrival>& arrivals) {
  std::vector<double> left(arrivals.size());
  std::vector<double> end(arrivals.size(), -1);
  for (size_t i = 0; i < arrivals.size(); ++i) left[i] = arrivals[i].bytes;
  double now = 0;
  size_t next = 0;
  for (;;) {
    std::vector<size_t> active;
    for (size_t i = 0; i < next; ++i) {
      if (end[i] < 0) active.push_back(i);
    }
    if (active.empty() && next == arrivals.size()) return end;
    std::map<size_t, double> rate;
    std::map<int32_t, double> capacity;
    for (int32_t c = 0; c < machine.channel_count(); ++c) {
      capacity[c] = machine.channel(ChannelId{c}).bytes_per_s * 1e-9;
    }
    std::vector<size_t> rising = active;
    while (!rising.empty()) {
      std::map<int32_t, int> users;
      for (const size_t i : rising) {
        for (const ChannelId c : arrivals[i].hop->shared) ++users[c.index];
      }
      int32_t tightest = -1;
      for (const auto& [c, n] : users) {
        if (tightest < 0 || capacity[c] / n < capacity[tightest] / users[tightest]) tightest = c;
      }
      const double level = capacity[tightest] / users[tightest];
      std::vector<size_t> still;
      for (const size_t i : rising) {
        const auto& over = arrivals[i].hop->shared;
        if (std::find(over.begin(), over.end(), ChannelId{tightest}) == over.end()) {
          still.push_back(i);
          continue;
        }
        rate[i] = level;
        for (const ChannelId c : over) capacity[c.index] -= level;
      }
      rising = still;
    }
    double until =
        next < arrivals.size() ? static_cast<double>(arrivals[next].time.count()) : 1e300;
    for (const size_t i : active) until = std::min(until, now + left[i] / rate[i]);
    for (const size_t i : active) {
      left[i] -= rate[i] * (until - now);
      if (left[i] < 1e-3) end[i] = until;
    }
    now = until;
    while (next < arrivals.size() && static_cast<double>(arrivals[next].time.count()) <= now)
      ++next;
  }
}

void expect_as_fluid(const Machine& machine, uint64_t seed) {
  Rng rng(seed);
  std::vector<Arrival> arrivals;
  Duration time{0};
  for (int i = 0; i < 60; ++i) {
    const auto from = static_cast<int32_t>(rng.below(static_cast<uint64_t>(machine.size())));
    const auto to = static_cast<int32_t>(rng.below(static_cast<uint64_t>(machine.size())));
    if (from == to) continue;
    const Route* route =
        machine.route(machine.memory_of(DeviceId{from}), machine.memory_of(DeviceId{to}));
    time += Duration(rng.below(300));
    arrivals.push_back({time, &route->hops.front(), 1 + static_cast<double>(rng.below(100000))});
  }
  const std::vector<double> expected = fluid(machine, arrivals);

  Flows flows(machine);
  std::vector<double> end(arrivals.size(), -1);
  size_t next = 0;
  Duration now{0};
  std::vector<int32_t> finished;
  for (;;) {
    const Duration joins = next < arrivals.size() ? arrivals[next].time : kNever;
    const Duration ends = flows.next_finish(now);
    now = std::min(joins, ends);
    if (now == kNever) break;
    finished.clear();
    flows.advance(now, finished);
    for (const int32_t i : finished) end[static_cast<size_t>(i)] = static_cast<double>(now.count());
    for (; next < arrivals.size() && arrivals[next].time == now; ++next) {
      flows.join(now, static_cast<int32_t>(next), *arrivals[next].hop, arrivals[next].bytes);
    }
  }
  for (size_t i = 0; i < arrivals.size(); ++i) {
    // Each end is rounded up to a nanosecond, which moves those that end later a little.
    EXPECT_NEAR(end[i], expected[i], 2 + 1e-4 * expected[i])
        << "arrival " << i << ", seed " << seed;
  }
}

TEST(Flows, DivideOneChannelEqually) {
  MachineSpec spec = devices(3);
  spec.links = {shared_link("d0", "d1", 1e9), shared_link("d1", "d2", 4e9),
                shared_link("d0", "d2", 2e9)};
  const auto machine = Machine::build(spec);
  ASSERT_TRUE(machine) << machine.error().message;
  for (uint64_t seed = 1; seed <= 20; ++seed) expect_as_fluid(*machine, seed);
}

TEST(Flows, AreMaxMinFairWhereTheyCrossSeveralChannels) {
  MachineSpec spec = devices(4);
  spec.switches.push_back({.name = "left"});
  spec.switches.push_back({.name = "right"});
  spec.links = {shared_link("d0", "left", 3e9), shared_link("d1", "left", 1e9),
                shared_link("d2", "right", 2e9), shared_link("d3", "right", 5e9),
                shared_link("left", "right", 2.5e9)};
  const auto machine = Machine::build(spec);
  ASSERT_TRUE(machine) << machine.error().message;
  ASSERT_EQ(machine->route(machine->memory_of(DeviceId{0}), machine->memory_of(DeviceId{3}))
                ->hops.front()
                .shared.size(),
            3u);
  for (uint64_t seed = 1; seed <= 20; ++seed) expect_as_fluid(*machine, seed);
}

}  // namespace
}  // namespace tutti
