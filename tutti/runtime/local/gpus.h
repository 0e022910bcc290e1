// GPUs as hardware of the local engine, in addition to other hardware that has the cores. A device
// of kind "gpu" or "gpu-..." is a GPU: a whole one, or with `units` a partition of the first GPU of
// this host that has so many of its multiprocessors to itself (a green context). Partitions share
// what is left: the GPU's memory, its bandwidth, and its link.

#ifndef TUTTI_RUNTIME_LOCAL_GPUS_H_
#define TUTTI_RUNTIME_LOCAL_GPUS_H_

#include <memory>

#include "tutti/runtime/local/hardware.h"

namespace tutti {

// The word before the first '-' of its kind is "gpu".
bool is_gpu(const Device& device);

struct GpuOptions {
  // How a hop goes whose ends are both a GPU's memory; a route by way of a host has no such hop.
  enum class Between : uint8_t {
    directly,      // on the GPU, or as the driver moves values between two
    through_host,  // by way of pinned memory, so that it costs and contends as between PCIe GPUs
  };
  Between between = Between::directly;
};

// Binds the GPUs of the machine; `others` serves all else. Whole GPUs are taken in the order in
// which the driver shows them, after one that is partitioned. All memories of hosts are pinned, as
// GPUs copy to and from them. Fails (invalid_input) with a sentence if this host lacks what the
// machine asks for, or the program was built without CUDA. Keeps a reference to the machine.
Result<std::unique_ptr<Hardware>> with_gpus(const Machine& machine,
                                            std::unique_ptr<Hardware> others,
                                            GpuOptions options = {});

}  // namespace tutti

#endif  // TUTTI_RUNTIME_LOCAL_GPUS_H_
