// Which cores belong to which slot of the CPUs of a machine: each device takes the next cores of
// this process in order, as many as it has units, or one for each slot; its slots share them out.
// Where cores run out they are counted from the first again.

#ifndef TUTTI_RUNTIME_LOCAL_CPU_CORES_H_
#define TUTTI_RUNTIME_LOCAL_CPU_CORES_H_

#include <string>
#include <vector>

#include "tutti/machine/machine.h"

namespace tutti {

// The word before the first '-' of its kind is "cpu".
bool is_cpu(const Device& device);

struct CoreBinding {
  // By device and slot, the cores of its team; none for devices that are no CPUs.
  std::vector<std::vector<std::vector<int>>> teams;
  int wanted = 0;  // cores, of all devices
  int there = 0;
};

// The cores that this process may use, ascending.
std::vector<int> cores_of_this_process();

// Require at least one core. Of all devices, or of these.
CoreBinding bind_cores(const Machine& machine, const std::vector<int>& cores);
CoreBinding bind_cores(const Machine& machine, const std::vector<DeviceId>& devices,
                       const std::vector<int>& cores);

// Binds the calling thread to a core. If the host does not allow it, the kernel goes on to
// choose.
void pin_this_thread(int core);
// To these cores, of which the kernel chooses.
void pin_this_thread(const std::vector<int>& cores);

}  // namespace tutti

#endif  // TUTTI_RUNTIME_LOCAL_CPU_CORES_H_
