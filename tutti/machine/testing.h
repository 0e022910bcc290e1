// What this room's tests share.

#ifndef TUTTI_MACHINE_TESTING_H_
#define TUTTI_MACHINE_TESTING_H_

#include <string>

#include "tutti/machine/machine.h"

namespace tutti::testing {

// The channels of a route by name, hops set apart by " | "; "none" if there is no route.
inline std::string route_text(const Machine& machine, MemoryId from, MemoryId to) {
  const Route* route = machine.route(from, to);
  if (route == nullptr) return "none";
  std::string text;
  for (const Hop& hop : route->hops) {
    text += text.empty() ? "" : " |";
    for (const ChannelId id : hop.channels) {
      text += (text.empty() ? "" : " ") + machine.channel(id).name;
    }
  }
  return text;
}

// Requires devices of those names.
inline std::string route_text(const Machine& machine, const char* from, const char* to) {
  return route_text(machine, machine.memory_of(*machine.find_device(from)),
                    machine.memory_of(*machine.find_device(to)));
}

inline MachineSpec::DeviceSpec gpu(std::string name) {
  return {.device = {.name = std::move(name), .kind = "gpu"}};
}

}  // namespace tutti::testing

#endif  // TUTTI_MACHINE_TESTING_H_
