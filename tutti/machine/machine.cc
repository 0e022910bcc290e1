#include "tutti/machine/machine.h"

#include <utility>

#include "tutti/machine/builder.h"

namespace tutti {

const char* to_text(Sharing sharing) {
  switch (sharing) {
    case Sharing::exclusive:
      return "exclusive";
    case Sharing::shared:
      return "shared";
    case Sharing::unlimited:
      return "unlimited";
  }
  return "?";
}

Result<Machine> Machine::build(MachineSpec spec) {
  return MachineBuilder(std::move(spec)).build();
}

std::optional<DeviceId> Machine::find_device(std::string_view name) const {
  for (const DeviceId id : devices()) {
    if (device(id).name == name) return id;
  }
  return std::nullopt;
}

}  // namespace tutti
