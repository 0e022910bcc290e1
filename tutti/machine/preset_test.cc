#include "tutti/machine/preset.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "tutti/base/file/document.h"
#include "tutti/machine/file.h"
#include "tutti/machine/testing.h"

namespace tutti {
namespace {

using testing::route_text;

// Requires a preset of that name.
Machine preset(std::string_view name) {
  auto machine = make_preset(name);
  EXPECT_TRUE(machine) << machine.error().message;
  return *std::move(machine);
}

// The time of a transfer alone, in nanoseconds.
double alone_ns(const Machine& machine, const char* from, const char* to, double bytes) {
  const Route* route = machine.route(machine.memory_of(*machine.find_device(from)),
                                     machine.memory_of(*machine.find_device(to)));
  double total = 0;
  for (const Hop& hop : route->hops) {
    total += static_cast<double>(hop.latency.count()) + bytes * hop.ns_per_byte;
  }
  return total;
}

TEST(Preset, EveryOneBuildsConnectsItsHostsAndRoundTrips) {
  for (const Preset& entry : machine_presets()) {
    const std::string name = entry.name == "uniform-N" ? "uniform-3" : entry.name;
    const Machine machine = preset(name);
    EXPECT_EQ(machine.name(), name);
    for (const Host& host : machine.hosts()) {
      for (const DeviceId device : machine.devices()) {
        EXPECT_NE(machine.route(host.memory, machine.memory_of(device)), nullptr) << name;
        EXPECT_NE(machine.route(machine.memory_of(device), host.memory), nullptr) << name;
      }
    }
    Source json = Source::from_text("machine.json", machine_to_json(machine));
    const auto from_json = read_machine(json);
    ASSERT_TRUE(from_json) << name << ": " << from_json.error().message;
    EXPECT_EQ(from_json->fingerprint(), machine.fingerprint()) << name;
    if (!can_read_toml()) continue;
    Source toml = Source::from_text("machine.toml", machine_to_toml(machine));
    const auto from_toml = read_machine(toml);
    ASSERT_TRUE(from_toml) << name << ": " << from_toml.error().message;
    EXPECT_EQ(from_toml->fingerprint(), machine.fingerprint()) << name;
  }
}

TEST(Preset, UniformTransfersNeverMeet) {
  const Machine machine = preset("uniform-1024");
  EXPECT_EQ(machine.size(), 1024);
  EXPECT_EQ(route_text(machine, "device0", "device1023"), "device0-switch> device1023-switch<");
  for (int32_t i = 0; i < machine.channel_count(); ++i) {
    EXPECT_EQ(machine.channel(ChannelId{i}).sharing, Sharing::unlimited);
  }
  EXPECT_DOUBLE_EQ(alone_ns(machine, "device0", "device5", 1e9), 1e8);
}

TEST(Preset, P100PairHoldsFiveChannelsInOneHop) {
  const Machine machine = preset("p100-4");
  EXPECT_EQ(route_text(machine, "gpu0", "gpu3"),
            "gpu0.copy-out gpu0-pcie> bridge gpu3-pcie< gpu3.copy-in");
  EXPECT_EQ(route_text(machine, machine.host_memory(), machine.memory_of(DeviceId{1})),
            "host-bridge> bridge gpu1-pcie< gpu1.copy-in");
  // 10 us, then 120 MB at 12 GB/s.
  EXPECT_DOUBLE_EQ(alone_ns(machine, "gpu0", "gpu3", 120e6), 10'000 + 10e6);
}

TEST(Preset, V100TakesNvLinkWhereThereIsOneAndPcieElsewhere) {
  const Machine machine = preset("v100-8-nvlink");
  EXPECT_EQ(route_text(machine, "gpu0", "gpu4"), "nvlink04>");
  EXPECT_EQ(route_text(machine, "gpu3", "gpu0"), "nvlink03<");
  EXPECT_EQ(route_text(machine, "gpu0", "gpu5"),
            "gpu0-pcie> bridge0 bridge0-bridge1> bridge1 gpu5-pcie<");
  // One brick carries 25 GB/s, two carry 50.
  EXPECT_DOUBLE_EQ(alone_ns(machine, "gpu0", "gpu1", 1e9), 5'000 + 40e6);
  EXPECT_DOUBLE_EQ(alone_ns(machine, "gpu0", "gpu3", 1e9), 5'000 + 20e6);
  // Six bricks and four neighbours each.
  for (const DeviceId device : machine.devices()) {
    double bytes_per_s = 0;
    int neighbours = 0;
    for (const auto& link : machine.spec().links) {
      const std::string& name = machine.device(device).name;
      if (link.name.rfind("nvlink", 0) != 0) continue;
      if (link.ends[0] != name && link.ends[1] != name) continue;
      bytes_per_s += link.bytes_per_s;
      ++neighbours;
    }
    EXPECT_EQ(neighbours, 4);
    EXPECT_DOUBLE_EQ(bytes_per_s, 150e9);
  }
}

TEST(Preset, H200SplitStagesTransfersThroughTheHost) {
  const Machine machine = preset("h200-split");
  EXPECT_EQ(route_text(machine, "sm64", "sm16b"),
            "sm64-pcie> staging host-staging< | host-staging> staging sm16b-pcie<");
  // Measured alone: 2.44 ms for 64 MiB.
  EXPECT_NEAR(alone_ns(machine, "sm64", "sm16b", 64 << 20), 2.44e6, 0.01e6);
  // Measured: a product of 4096^3 in 5.44 ms.
  EXPECT_NEAR(2.0 * std::pow(4096, 3) / machine.device(DeviceId{0}).flops_per_s, 5.44e-3, 1e-6);
}

TEST(Preset, H200SplitContentionIsWithinThreePercentOfTheMeasured) {
  const Machine machine = preset("h200-split");
  double staging = 0;
  for (const auto& item : machine.spec().switches) staging = item.bytes_per_s;
  // n transfers that start together divide the staging channel at each of their two hops.
  const auto at_once_ms = [&](int n) {
    return 2 * (10e-3 + (64 << 20) * 1e3 / std::min(55.5e9, staging / n));
  };
  EXPECT_NEAR(at_once_ms(2), 2.88, 0.03 * 2.88);
  EXPECT_NEAR(at_once_ms(4), 5.52, 0.03 * 5.52);
}

TEST(Preset, ClusterPairOnTwoHostsTakesThreeHops) {
  const Machine machine = preset("cluster-2x4");
  EXPECT_EQ(route_text(machine, "gpu1", "gpu6"),
            "gpu1.copy-out gpu1-pcie> bridge0 host0-bridge0< | network> | "
            "host1-bridge1> bridge1 gpu6-pcie< gpu6.copy-in");
  EXPECT_EQ(machine.device(DeviceId{6}).host, HostId{1});
}

TEST(Preset, MixedHasTwoFastTwoSlowAndACpuOnTheHost) {
  const Machine machine = preset("mixed-5");
  ASSERT_EQ(machine.size(), 5);
  const double fast = machine.device(DeviceId{0}).flops_per_s;
  EXPECT_DOUBLE_EQ(machine.device(DeviceId{2}).flops_per_s, fast / 2);
  EXPECT_DOUBLE_EQ(machine.device(DeviceId{4}).flops_per_s, fast / 20);
  EXPECT_EQ(machine.memory_of(DeviceId{4}), machine.host_memory());
}

TEST(Preset, UnknownNamesAreRefusedWithTheKnownOnes) {
  for (const char* name : {"p100", "uniform-", "uniform-0", "uniform-1025", "uniform--1",
                           "uniform-3x", "uniform-1000000000", "uniform-99999999999999999999"}) {
    const auto machine = make_preset(name);
    ASSERT_FALSE(machine) << name;
    EXPECT_NE(machine.error().message.find("known are: uniform-N"), std::string::npos) << name;
  }
}

TEST(LoadMachine, TakesPresetsAndFiles) {
  EXPECT_EQ(load_machine("uniform-2")->size(), 2);
  const std::string path = ::testing::TempDir() + "/load_machine_test.json";
  std::ofstream(path) << machine_to_json(preset("cpu-gpu"));
  const auto machine = load_machine(path);
  ASSERT_TRUE(machine) << machine.error().message;
  EXPECT_EQ(machine->fingerprint(), preset("cpu-gpu").fingerprint());
}

TEST(LoadMachine, RefusesWhatIsNoneOfThese) {
  const std::string unknown = load_machine("p100-5").error().message;
  EXPECT_NE(unknown.find("did you mean 'p100-4'? known are: uniform-N (N from 1 to 1024), p100-4, "
                         "v100-8-nvlink, cpu-gpu, mixed-5, h200-split, cluster-2x4, this-host"),
            std::string::npos)
      << unknown;
  EXPECT_NE(load_machine("uniform-0").error().message.find("known are"), std::string::npos);
}

}  // namespace
}  // namespace tutti
