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
  if (problem.has_homed_weights()) {
    return invalid_input(
        "the exact method does not know weights with homes, which are kept or streamed; use auto");
  }
  if (problem.has_memory_limits()) {
    return invalid_input(
        "the exact method does not know memory limits; leave them out, or use auto");
  }
  return {};
}

Result<void> require_few_ops(const Problem& problem, int32_t most) {
  if (problem.graph.size() <= most) return {};
  return invalid_input(
      fmt::format("the exact method takes up to {} ops and this graph has {}; use auto", most,
                  problem.graph.size()));
}

}  // namespace tutti
