#include "tutti/search/exact/free_of_contention.h"

#include <fmt/format.h>

namespace tutti {

Result<void> require_no_contention(const Problem& problem) {
  const Machine& machine = problem.machine;
  for (int32_t i = 0; i < machine.channel_count(); ++i) {
    const Channel& channel = machine.channel(ChannelId{i});
    if (channel.sharing == Sharing::unlimited) continue;
    return invalid_input(fmt::format(
        "the exact method needs transfers that do not meet, and '{}' of machine '{}' is contended; "
        "use a machine such as uniform-4, or auto, which needs nothing",
        channel.name, machine.name()));
  }
  if (problem.has_memory_limits()) {
    return invalid_input(
        "the exact method does not know memory limits; leave them out, or use auto");
  }
  return {};
}

Duration input_arrival(const Problem& problem, ValueId input, DeviceId device) {
  const MemoryId home = problem.home(input);
  const MemoryId memory = problem.machine.memory_of(device);
  if (!home.valid() || home == memory) return Duration{0};
  return problem.costs.transfer_time(input, home, memory);
}

}  // namespace tutti
