// The machine this process runs on: its cores (cpuset), its memory (cgroup limit) and its GPUs
// (CUDA_VISIBLE_DEVICES), as one Machine. Rates are estimates from nominal figures, to be replaced
// by calibration.

#ifndef TUTTI_MACHINE_DISCOVER_H_
#define TUTTI_MACHINE_DISCOVER_H_

#include "tutti/machine/machine.h"

namespace tutti {

Result<Machine> discover_machine();

// The same host for graphs of commands: its CPU devices alone, with a slot for each core, so that
// as many commands run at a time as there are cores.
Result<Machine> discover_command_machine();

// The host's cores alone, as `devices` CPU devices of `cores` cores with a memory of their own
// each: a machine of several devices on any host. Fails (invalid_input) if the host has fewer
// cores.
Result<Machine> discover_groups(int devices, int cores);

}  // namespace tutti

#endif  // TUTTI_MACHINE_DISCOVER_H_
