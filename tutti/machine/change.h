// Changed machines, for questions such as "what would one more GPU bring?". Routes that the file
// states are kept as they are; new devices get the shortest ones.

#ifndef TUTTI_MACHINE_CHANGE_H_
#define TUTTI_MACHINE_CHANGE_H_

#include <string>

#include "tutti/machine/machine.h"

namespace tutti {

// One more device like the first of that name or kind, with links like its links. Fails with the
// names and kinds there are.
Result<MachineSpec> with_device(const MachineSpec& spec, const std::string& like);

// Without the device of that name, or the last of that kind, and the links that end at it.
Result<MachineSpec> without_device(const MachineSpec& spec, const std::string& which);

// Every link and switch that many times as wide.
MachineSpec with_bandwidth(const MachineSpec& spec, double factor);

// Every memory of a device that many times as large, where it has a size.
MachineSpec with_memory(const MachineSpec& spec, double factor);

}  // namespace tutti

#endif  // TUTTI_MACHINE_CHANGE_H_
