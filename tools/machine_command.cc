// tutti machine: the machines tutti knows, and this one.

#include <fmt/format.h>

#include <memory>

#include "tools/commands.h"
#include "tools/companion.h"
#include "tools/inputs.h"
#include "tutti/base/file/json_writer.h"
#include "tutti/base/file/output.h"
#include "tutti/machine/discover.h"
#include "tutti/machine/file.h"
#include "tutti/machine/preset.h"

namespace tutti {
namespace {

struct MachineArguments {
  std::string name;
  std::string output = "-";
  bool json = false;
  bool ranks = false;
  int reserved_cores = -1;
  bool device_for_each_core = false;
};

void list_machines(const MachineArguments& arguments) {
  if (arguments.json) {
    JsonWriter json;
    json.open_object().field("schema_version", 1).key("machines").open_list();
    for (const Preset& preset : machine_presets()) {
      json.open_object().field("name", preset.name).field("what", preset.what).close_object();
    }
    json.close_list().close_object();
    fmt::print("{}", json.text());
    return;
  }
  for (const Preset& preset : machine_presets())
    fmt::print("{:<15} {}\n", preset.name, preset.what);
}

int show(const Result<Machine>& machine, const MachineArguments& arguments) {
  if (!machine) return report(machine.error());
  for (const DeviceId device : devices_without_rates(*machine)) {
    print_warning(
        fmt::format("device '{}' states no flops_per_s: only ops whose times are given, or stand "
                    "in a costs file, can run on it",
                    machine->device(device).name));
  }
  const Result<void> written = write_file(
      arguments.output, arguments.json ? machine_to_json(*machine) : machine_to_toml(*machine));
  return written ? 0 : report(written.error());
}

}  // namespace

void add_machine_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("machine", "List, show or discover machines");
  command->require_subcommand(1);
  auto arguments = std::make_shared<MachineArguments>();

  CLI::App* list = command->add_subcommand("list", "List the machines that come with tutti");
  accept_seed(*list);
  list->footer("Example: tutti machine list");
  list->add_flag("--json", arguments->json, "Print the list as JSON");
  list->callback([arguments] { list_machines(*arguments); });

  CLI::App* shown = command->add_subcommand("show", "Print a machine as a machine file");
  accept_seed(*shown);
  shown->footer("Example: tutti machine show p100-4 > mine.toml");
  shown->add_option("machine", arguments->name, "A preset, a machine file, or this-host")
      ->required();
  shown->add_flag("--json", arguments->json, "As JSON instead of TOML");
  shown->add_option("-o,--output", arguments->output, "Write it here");
  shown->callback(
      [arguments, &exit_code] { exit_code = show(load_machine(arguments->name), *arguments); });

  CLI::App* found = command->add_subcommand(
      "discover",
      "Describe this host: its cores, memory and GPUs, as far as this process may use them");
  accept_seed(*found);
  found->footer(
      "Example: tutti machine discover -o this-host.toml\n"
      "         mpirun -n 4 tutti machine discover --ranks -o cluster.toml");
  found->add_flag("--json", arguments->json, "As JSON instead of TOML");
  found->add_option("-o,--output", arguments->output, "Write it here");
  found->add_flag(
      "--ranks", arguments->ranks,
      "Under mpirun or srun: the hosts of all ranks and the network between them, measured");
  found
      ->add_option("--reserve-cores", arguments->reserved_cores,
                   "With --ranks: cores of each rank for messages alone (default: one of three or "
                   "more, if there are several ranks)")
      ->needs("--ranks")
      ->check(CLI::Range(0, 1024));
  found
      ->add_flag("--device-per-core", arguments->device_for_each_core,
                 "With --ranks: a device for each core, instead of one for each host")
      ->needs("--ranks");
  found->callback([arguments, &exit_code] {
    exit_code = arguments->ranks ? report(become_starpu()) : show(discover_machine(), *arguments);
  });
}

}  // namespace tutti
