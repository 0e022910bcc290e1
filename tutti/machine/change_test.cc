#include "tutti/machine/change.h"

#include <gtest/gtest.h>

#include "tutti/machine/preset.h"

namespace tutti {
namespace {

Machine must_build(const Result<MachineSpec>& spec) {
  return Machine::build(spec.value()).value();
}

TEST(Change, AddsADeviceThatIsConnectedLikeItsModel) {
  const Machine before = make_preset("p100-4").value();
  const Machine after = must_build(with_device(before.spec(), "gpu"));
  ASSERT_EQ(after.size(), before.size() + 1);
  const DeviceId added{after.size() - 1};
  EXPECT_EQ(after.device(added).kind, "gpu");
  EXPECT_EQ(after.device(added).flops_per_s, before.device(DeviceId{0}).flops_per_s);
  EXPECT_NE(after.route(after.memory_of(DeviceId{0}), after.memory_of(added)), nullptr);
  EXPECT_NE(after.fingerprint(), before.fingerprint());
}

TEST(Change, ConnectsTheNewDeviceWithItsModelWhereLinksGoStraight) {
  for (const char* preset : {"uniform-2", "v100-8-nvlink", "cpu-gpu", "mixed-5", "h200-split"}) {
    const Machine before = make_preset(preset).value();
    const Machine after = must_build(with_device(before.spec(), before.device(DeviceId{0}).name));
    EXPECT_EQ(after.size(), before.size() + 1) << preset;
  }
}

TEST(Change, TakesADeviceAway) {
  for (const char* preset : {"p100-4", "v100-8-nvlink", "mixed-5", "cluster-2x4"}) {
    const Machine before = make_preset(preset).value();
    const std::string last = before.device(DeviceId{before.size() - 1}).name;
    EXPECT_EQ(must_build(without_device(before.spec(), last)).size(), before.size() - 1);
  }
}

TEST(Change, ScalesBandwidth) {
  const Machine before = make_preset("p100-4").value();
  const Machine after = must_build(with_bandwidth(before.spec(), 2));
  const auto ns_per_byte = [](const Machine& machine) {
    return machine.route(machine.memory_of(DeviceId{0}), machine.memory_of(DeviceId{1}))
        ->hops.front()
        .ns_per_byte;
  };
  EXPECT_DOUBLE_EQ(ns_per_byte(after), ns_per_byte(before) / 2);
}

TEST(Change, NamesTheDevicesThereAreWhenAskedForAnother) {
  const Machine machine = make_preset("cpu-gpu").value();
  const Result<MachineSpec> changed = with_device(machine.spec(), "fpga");
  ASSERT_FALSE(changed);
  EXPECT_NE(changed.error().message.find("cpu, gpu"), std::string::npos) << changed.error().message;
}

}  // namespace
}  // namespace tutti
