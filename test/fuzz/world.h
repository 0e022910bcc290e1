// The problem that plans, traces, costs and constraints are fuzzed against: the small world of
// plan/testing.h, with memories that can be too small.

#ifndef TUTTI_TEST_FUZZ_WORLD_H_
#define TUTTI_TEST_FUZZ_WORLD_H_

#include "tutti/plan/testing.h"

namespace tutti::fuzz {

inline testing::World make_world() {
  MachineSpec machine = testing::small_machine();
  for (MachineSpec::DeviceSpec& device : machine.devices) {
    if (!device.uses_host_memory) device.memory_bytes = 1000;
  }
  return testing::World(testing::small_graph({.transient_bytes = 10}), machine);
}

// Made once: it is immutable.
inline const Problem& fixed_problem() {
  static const testing::World world = make_world();
  return world.problem();
}

}  // namespace tutti::fuzz

#endif  // TUTTI_TEST_FUZZ_WORLD_H_
