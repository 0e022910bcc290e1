#include <fmt/format.h>

#include "tutti/runtime/local/cpu/cpu_hardware.h"
#include "tutti/runtime/local/hardware.h"

namespace tutti {

Result<std::unique_ptr<Hardware>> bind_hardware(const Machine& machine) {
  for (const DeviceId id : machine.devices()) {
    const Device& device = machine.device(id);
    if (is_cpu(device)) continue;
    return invalid_input(fmt::format(
        "device '{}' is of kind '{}', which this program cannot bind to this host; it binds kind "
        "'cpu' and kinds that begin with 'cpu-'",
        device.name, device.kind));
  }
  return std::unique_ptr<Hardware>(std::make_unique<CpuHardware>(machine, cores_of_this_process()));
}

}  // namespace tutti
