// Machines that come with tutti, by name. The figures and where they are from:
// docs/formats/machine.md.

#ifndef TUTTI_MACHINE_PRESET_H_
#define TUTTI_MACHINE_PRESET_H_

#include <string>
#include <string_view>
#include <vector>

#include "tutti/machine/machine.h"

namespace tutti {

struct Preset {
  std::string name;  // "uniform-N" stands for any N from 1 to 1024
  std::string what;
};
std::vector<Preset> machine_presets();

// Fails if no preset has that name; the sentence lists those there are.
Result<Machine> make_preset(std::string_view name);

// A preset's name, "this-host", "this-host:4x2" (its cores as four devices of two), or a machine
// file. Fails with a sentence that suggests the nearest name and lists those there are.
Result<Machine> load_machine(const std::string& name_or_path);

// The same for a graph of commands, to which "this-host" gives a slot for each core.
Result<Machine> load_command_machine(const std::string& name_or_path);

}  // namespace tutti

#endif  // TUTTI_MACHINE_PRESET_H_
