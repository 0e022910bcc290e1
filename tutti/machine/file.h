// Machine files: TOML, or the same structure as JSON. See docs/formats/machine.md.

#ifndef TUTTI_MACHINE_FILE_H_
#define TUTTI_MACHINE_FILE_H_

#include <string>
#include <vector>

#include "tutti/base/file/source.h"
#include "tutti/machine/machine.h"

namespace tutti {

Result<Machine> read_machine(Source& source);

// Those that state no flops_per_s, for any dtype. Ops whose times are not known from elsewhere
// cannot run there: commands that read a machine warn of it.
std::vector<DeviceId> devices_without_rates(const Machine& machine);

// The machine as a TOML or JSON text that read_machine takes back.
std::string machine_to_toml(const Machine& machine);
std::string machine_to_json(const Machine& machine);

}  // namespace tutti

#endif  // TUTTI_MACHINE_FILE_H_
