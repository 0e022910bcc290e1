// tutti-starpu: what `tutti run`, `tutti compare` and `tutti machine discover` go on as with
// StarPU, on each rank that mpirun or srun started. It takes the same command line.

#include <CLI/CLI.hpp>
#include <memory>

#include "tools/command_line.h"
#include "tools/starpu/commands.h"
#include "tools/starpu/shared.h"
#include "tutti/base/file/output.h"
#include "tutti/machine/file.h"
#include "tutti/runtime/starpu/discover.h"

namespace tutti {
namespace {

struct DiscoverArguments {
  std::string output = "-";
  bool json = false;
  bool ranks = false;
  DiscoverOptions options{};
};

int discover(const DiscoverArguments& arguments, StarpuRanks& ranks) {
  const Result<Machine> machine = discover_ranks(ranks, arguments.options);
  if (!machine) return report_once(machine.error(), ranks);
  Result<void> written;
  if (ranks.rank() == 0) {
    written = write_file(arguments.output,
                         arguments.json ? machine_to_json(*machine) : machine_to_toml(*machine));
  }
  if (written = ranks.agree(written); !written) return report_once(written.error(), ranks);
  return 0;
}

int start(int argc, char** argv) {
  CLI::App app{"tutti on StarPU", "tutti"};
  app.require_subcommand(1);
  RunArguments run;
  CLI::App* run_command = app.add_subcommand("run", "Run a plan on the hosts of all ranks");
  run.add_to(*run_command);
  CompareArguments compare;
  CLI::App* compare_command =
      app.add_subcommand("compare", "Compare plans with StarPU's schedulers");
  compare.add_to(*compare_command);
  DiscoverArguments found;
  CLI::App* machine_command = app.add_subcommand("machine", "Discover the hosts of all ranks");
  machine_command->require_subcommand(1);
  CLI::App* discover_command = machine_command->add_subcommand("discover");
  accept_seed(*discover_command);
  discover_command->add_flag("--json", found.json);
  discover_command->add_flag("--ranks", found.ranks);
  discover_command->add_option("-o,--output", found.output);
  discover_command->add_option("--reserve-cores", found.options.reserved_cores);
  discover_command->add_flag("--device-per-core", found.options.device_for_each_core);
  return run_program(app, argc, argv, 0, [&] {
    const Result<std::unique_ptr<StarpuRanks>> ranks = StarpuRanks::join();
    if (!ranks) return report(ranks.error());
    if (*run_command) return run_on_starpu(run, **ranks);
    if (*compare_command) return compare_on_starpu(compare, **ranks);
    return discover(found, **ranks);
  });
}

}  // namespace
}  // namespace tutti

// CLI11 throws outside of run_program only if a flag is declared wrongly.
int main(int argc, char** argv) {  // NOLINT(bugprone-exception-escape)
  return tutti::start(argc, argv);
}
