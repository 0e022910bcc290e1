#include "tutti/machine/counter.h"

#include <fmt/format.h>

namespace tutti {

std::string resource_name(const Machine& machine, const Resource& resource) {
  switch (resource.kind) {
    case Resource::Kind::machine:
      break;
    case Resource::Kind::host:
      return machine.hosts()[resource.index].name;
    case Resource::Kind::memory:
      return machine.memory(MemoryId{resource.index}).name + ".memory";
    case Resource::Kind::device:
      return machine.device(DeviceId{resource.index}).name;
    case Resource::Kind::core:
      return fmt::format("{}.core{}", machine.device(DeviceId{resource.index}).name, resource.core);
    case Resource::Kind::channel:
      return machine.channel(ChannelId{resource.index}).name;
    case Resource::Kind::cache:
      return machine.hosts()[resource.index].name + ".cache";
  }
  return "machine";
}

}  // namespace tutti
