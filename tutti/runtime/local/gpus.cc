#include "tutti/runtime/local/gpus.h"

#include <fmt/format.h>

#include <string_view>

namespace tutti {

bool is_gpu(const Device& device) {
  const std::string_view kind = device.kind;
  return kind.substr(0, kind.find('-')) == "gpu";
}

#ifndef TUTTI_HAVE_CUDA  // else it is in cuda/cuda_hardware.cc

Result<std::unique_ptr<Hardware>> with_gpus(const Machine& machine,
                                            std::unique_ptr<Hardware> others,
                                            GpuOptions /*options*/) {
  for (const DeviceId device : machine.devices()) {
    if (!is_gpu(machine.device(device))) continue;
    return invalid_input(fmt::format(
        "device '{}' is a GPU, but this program was built without CUDA; build it where nvcc is",
        machine.device(device).name));
  }
  return others;
}

#endif

}  // namespace tutti
