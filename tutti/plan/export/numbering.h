// How other programs count devices: host by host, those that work on the host's memory (CPUs) apart
// from those with a memory of their own (GPUs).

#ifndef TUTTI_PLAN_EXPORT_NUMBERING_H_
#define TUTTI_PLAN_EXPORT_NUMBERING_H_

#include <vector>

#include "tutti/machine/machine.h"

namespace tutti {

struct DeviceNumber {
  bool on_host_memory = false;
  int index = 0;         // among the devices of its host on the same side, by id
  int slots_before = 0;  // of those before it
};

// By device.
std::vector<DeviceNumber> number_devices(const Machine& machine);

}  // namespace tutti

#endif  // TUTTI_PLAN_EXPORT_NUMBERING_H_
