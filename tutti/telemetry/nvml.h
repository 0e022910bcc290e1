// Counters of NVIDIA GPUs by their management library, loaded when asked for: the same program
// starts where there is none.
//
// The library's utilisation is over its own window (a sixth of a second to a second), and asking
// for PCIe traffic takes it some 20 ms for each direction: read it for decisions that are seldom.

#ifndef TUTTI_TELEMETRY_NVML_H_
#define TUTTI_TELEMETRY_NVML_H_

#include <memory>
#include <string>
#include <vector>

#include "tutti/telemetry/source.h"

namespace tutti {

// `pci_ids` are those of the machine's GPUs (the word before the first '-' of their kind is "gpu"),
// in order: GpuFacts of this host have them. Devices with `units` are partitions of the first.
// Fails (failed) where there is no library, no driver, or none of these GPUs.
Result<std::unique_ptr<CounterSource>> make_nvml_source(
    const Machine& machine, const std::vector<std::string>& pci_ids,
    const std::string& library = "libnvidia-ml.so.1");

}  // namespace tutti

#endif  // TUTTI_TELEMETRY_NVML_H_
