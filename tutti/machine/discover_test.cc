#include "tutti/machine/discover.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tutti/machine/facts.h"
#include "tutti/machine/preset.h"
#include "tutti/machine/testing.h"

namespace tutti {
namespace {

using testing::route_text;

// A folder that stands for "/", with the files a test puts there.
class FakeRoot : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    root_ = ::testing::TempDir() + "/fake_root_" + test->name();
    std::filesystem::remove_all(root_);
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void put(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = root_ + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }

  std::string root_;
};

using Cgroup = FakeRoot;
using Clock = FakeRoot;
using Pci = FakeRoot;

TEST_F(Cgroup, WithoutFilesThereIsNoLimit) {
  EXPECT_EQ(cgroup_memory_limit(root_), kUnlimitedBytes);
}

TEST_F(Cgroup, Version2TakesTheLeastLimitUpwards) {
  put("/proc/self/cgroup", "0::/jobs/mine\n");
  put("/sys/fs/cgroup/jobs/mine/memory.max", "max\n");
  put("/sys/fs/cgroup/jobs/memory.max", "8589934592\n");
  put("/sys/fs/cgroup/memory.max", "17179869184\n");
  EXPECT_EQ(cgroup_memory_limit(root_), int64_t{8} << 30);
}

TEST_F(Cgroup, Version1ReadsTheMemoryControllerOnly) {
  put("/proc/self/cgroup", "5:cpu,cpuacct:/x\n4:hugetlb,memory:/box/1\nnonsense\n0::/\n");
  put("/sys/fs/cgroup/memory/box/1/memory.limit_in_bytes", "4294967296\n");
  put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  put("/sys/fs/cgroup/x/memory.limit_in_bytes", "1\n");
  EXPECT_EQ(cgroup_memory_limit(root_), int64_t{4} << 30);
}

TEST_F(Cgroup, APathThatIsOnlyKnownOutsideTheContainerFallsBackToTheMount) {
  put("/proc/self/cgroup", "3:memory:/docker/0123abcd\n");
  put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "1073741824\n");
  EXPECT_EQ(cgroup_memory_limit(root_), int64_t{1} << 30);
}

TEST_F(Cgroup, NonsenseIsNoLimit) {
  put("/proc/self/cgroup", "0::no/slash\n::\n:\n0::/a\n");
  put("/sys/fs/cgroup/a/memory.max", "-5\n");
  put("/sys/fs/cgroup/memory.max", "many\n");
  EXPECT_EQ(cgroup_memory_limit(root_), kUnlimitedBytes);
}

TEST_F(Clock, IsTheNominalOneNotThatOfTheMoment) {
  EXPECT_EQ(nominal_hertz(root_), 2.5e9);
  put("/proc/cpuinfo", "model name : Some CPU @ 2.20GHz\ncpu MHz : 3141.592\n");
  EXPECT_DOUBLE_EQ(nominal_hertz(root_), 2.2e9);
  put("/sys/devices/system/cpu/cpu0/cpufreq/base_frequency", "2100000\n");
  EXPECT_DOUBLE_EQ(nominal_hertz(root_), 2.1e9);
}

TEST_F(Pci, LinkCarriesEightTenthsOfItsNominalRate) {
  EXPECT_EQ(pci_bytes_per_s(root_, "0000:3B:00.0"), 12e9);
  put("/sys/bus/pci/devices/0000:3b:00.0/max_link_speed", "32.0 GT/s PCIe\n");
  put("/sys/bus/pci/devices/0000:3b:00.0/max_link_width", "16\n");
  EXPECT_DOUBLE_EQ(pci_bytes_per_s(root_, "0000:3B:00.0"), 51.2e9);
  put("/sys/bus/pci/devices/0000:3b:00.0/max_link_width", "255\n");  // sysfs for "unknown"
  EXPECT_EQ(pci_bytes_per_s(root_, "0000:3B:00.0"), 12e9);
}

TEST(DescribeHost, GivesEachNumaNodeADeviceOnTheHostsMemory) {
  const auto machine = Machine::build(
      describe_host({.cores_by_numa_node = {8, 4}, .hertz = 2e9, .memory_bytes = 1 << 30}));
  ASSERT_TRUE(machine) << machine.error().message;
  ASSERT_EQ(machine->size(), 2);
  EXPECT_EQ(machine->device(DeviceId{1}).name, "cpu1");
  EXPECT_DOUBLE_EQ(machine->device(DeviceId{0}).flops_per_s, 8 * 2e9 * 16);
  EXPECT_EQ(machine->memory_of(DeviceId{1}), machine->host_memory());
  EXPECT_EQ(machine->memory(machine->host_memory()).capacity_bytes, 1 << 30);
}

TEST(DescribeHost, LinksEachGpuToTheHost) {
  const GpuFacts gpu{.name = "some GPU",
                     .memory_bytes = 1 << 30,
                     .flops_per_s = 1e13,
                     .bytes_per_s = 1e12,
                     .link_bytes_per_s = 25e9,
                     .copy_engines = 2};
  const auto machine = Machine::build(describe_host(
      {.cores_by_numa_node = {4}, .hertz = 2e9, .memory_bytes = 1 << 30, .gpus = {gpu, gpu}}));
  ASSERT_TRUE(machine) << machine.error().message;
  ASSERT_EQ(machine->size(), 3);
  EXPECT_EQ(machine->device(DeviceId{0}).name, "cpu");
  EXPECT_EQ(route_text(*machine, "cpu", "gpu1"), "gpu1-pcie> gpu1.copy-in");
  EXPECT_EQ(route_text(*machine, "gpu0", "gpu1"),
            "gpu0.copy-out gpu0-pcie< | gpu1-pcie> gpu1.copy-in");
}

// Two nodes of 8 and 4 cores: 12 commands at a time, each at the speed of one core; no GPU.
TEST(DescribeHost, GivesCommandsASlotForEachCore) {
  const auto machine = Machine::build(describe_command_host(
      {.cores_by_numa_node = {8, 4}, .hertz = 2e9, .memory_bytes = 1 << 30, .gpus = {GpuFacts{}}}));
  ASSERT_TRUE(machine) << machine.error().message;
  ASSERT_EQ(machine->size(), 2);
  EXPECT_EQ(machine->device(DeviceId{0}).slots, 8);
  EXPECT_EQ(machine->device(DeviceId{1}).slots, 4);
  EXPECT_EQ(machine->device(DeviceId{1}).units, 4);
  EXPECT_DOUBLE_EQ(machine->device(DeviceId{0}).flops_per_s, 2e9 * 16);
}

TEST(Discover, FindsAtLeastOneDeviceHere) {
  const auto machine = discover_machine();
  ASSERT_TRUE(machine) << machine.error().message;
  ASSERT_GE(machine->size(), 1);
  EXPECT_EQ(machine->device(DeviceId{0}).kind, "cpu");
  EXPECT_GT(machine->device(DeviceId{0}).flops_per_s, 0);
  EXPECT_LT(machine->memory(machine->host_memory()).capacity_bytes, kUnlimitedBytes);
}

TEST(Discover, SaysTheSameEveryTime) {
  EXPECT_EQ(discover_machine()->fingerprint(), discover_machine()->fingerprint());
}

TEST(Discover, CoresCanBeDevicesOfTheirOwn) {
  const HostFacts facts{.cores_by_numa_node = {8}, .hertz = 2e9, .memory_bytes = int64_t{5} << 30};
  const auto machine = Machine::build(describe_groups(facts, 4, 2));
  ASSERT_TRUE(machine) << machine.error().message;
  ASSERT_EQ(machine->size(), 4);
  EXPECT_EQ(machine->device(DeviceId{3}).units, 2);
  EXPECT_NE(machine->memory_of(DeviceId{0}), machine->memory_of(DeviceId{1}));
  EXPECT_EQ(machine->memory(machine->memory_of(DeviceId{0})).capacity_bytes, int64_t{1} << 30);
  EXPECT_EQ(machine->route(MemoryId{0}, machine->memory_of(DeviceId{1}))->hops.size(), 1u);
}

TEST(Discover, RefusesMoreCoresThanThereAre) {
  const auto machine = load_machine("this-host:1024x1024");
  ASSERT_FALSE(machine);
  EXPECT_NE(machine.error().message.find("ask for fewer"), std::string::npos);
  for (const char* name :
       {"this-host:", "this-host:4", "this-host:0x1", "this-host:2x2x", "this-host:x1"}) {
    const auto spelt = load_machine(name);
    ASSERT_FALSE(spelt);
    EXPECT_NE(spelt.error().message.find("devices x cores"), std::string::npos) << name;
  }
  EXPECT_TRUE(load_machine("this-host:1x1"));
}

}  // namespace
}  // namespace tutti
