#include <fmt/format.h>

#include "tutti/runtime/local/cpu/cpu_hardware.h"
#include "tutti/runtime/local/gpus.h"
#include "tutti/runtime/local/hardware.h"

namespace tutti {

Result<std::unique_ptr<Hardware>> bind_hardware(const Machine& machine) {
  bool gpus = false;
  for (const DeviceId id : machine.devices()) {
    const Device& device = machine.device(id);
    if (is_gpu(device)) gpus = true;
    if (is_cpu(device) || is_gpu(device)) continue;
    return invalid_input(fmt::format(
        "device '{}' is of kind '{}', which this program cannot bind to this host; it binds kinds "
        "'cpu' and 'gpu' and kinds that begin with 'cpu-' or 'gpu-'",
        device.name, device.kind));
  }
  auto cores = std::make_unique<CpuHardware>(machine, cores_of_this_process());
  if (gpus) return with_gpus(machine, std::move(cores));
  return std::unique_ptr<Hardware>(std::move(cores));
}

}  // namespace tutti
