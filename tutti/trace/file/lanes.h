// Where a viewer of trace files shows what: a process for each device, then for each channel, one
// for transfers that hold no channel, and one for what an online policy did. The writer numbers by
// it, the reader holds files to it.

#ifndef TUTTI_TRACE_FILE_LANES_H_
#define TUTTI_TRACE_FILE_LANES_H_

#include <cstdint>
#include <string>

#include "tutti/machine/machine.h"

namespace tutti {

struct ShownAs {
  const Machine& machine;

  int32_t device(DeviceId device) const { return 1 + device.index; }
  int32_t channel(size_t channel) const {
    return 1 + machine.size() + static_cast<int32_t>(channel);
  }
  // What no channel carries comes after the channels.
  size_t no_channel() const { return static_cast<size_t>(machine.channel_count()); }
  int32_t policy() const { return channel(no_channel() + 1); }
  // Of counters, which only write_viewer_trace writes.
  int32_t memories() const { return policy() + 1; }
  int32_t bandwidth() const { return policy() + 2; }

  // Empty: there is no such process.
  std::string process_name(int32_t process) const {
    const int32_t at = process - 1 - machine.size();
    if (process < 1 || process > bandwidth()) return {};
    if (process == memories()) return "memory in use";
    if (process == bandwidth()) return "bandwidth";
    if (at < 0) return machine.device(DeviceId{process - 1}).name;
    if (at < machine.channel_count()) return machine.channel(ChannelId{at}).name;
    return process == policy() ? "policy" : "transfers";
  }
  static std::string slot_name(int slot) { return "slot " + std::to_string(slot); }
};

}  // namespace tutti

#endif  // TUTTI_TRACE_FILE_LANES_H_
