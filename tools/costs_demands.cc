// tutti costs demands: what ops draw on memory, worked out from their sizes and run times.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tools/commands.h"
#include "tools/inputs.h"
#include "tutti/machine/preset.h"

namespace tutti {
namespace {

struct DemandArguments {
  std::vector<std::string> graphs;
  std::string machine = "this-host";
  std::string costs;
  std::string output = "-";
};

struct Moved {
  double bytes = 0;
  double seconds = 0;
  double most_bytes_per_s = 0;  // of the device; 0: unknown
};
using ByKinds = std::map<std::pair<std::string, std::string>, Moved>;  // of op and device

void add_ops(const Graph& graph, const Machine& machine, const Costs& costs, ByKinds& all) {
  for (const OpId op : graph.ops()) {
    double bytes = 0;
    for (const ValueId value : graph.operands(op)) bytes += static_cast<double>(graph.bytes(value));
    for (const ValueId value : graph.outputs(op)) bytes += static_cast<double>(graph.bytes(value));
    std::vector<std::string> seen;
    for (const DeviceId id : machine.devices()) {
      const Device& device = machine.device(id);
      if (!costs.can_run(op, id) || std::count(seen.begin(), seen.end(), device.kind) > 0) continue;
      seen.push_back(device.kind);
      Moved& moved = all[{std::string(graph.op_kind_name(op)), device.kind}];
      moved.bytes += bytes;
      moved.seconds += static_cast<double>(costs.run_time(op, id).count()) * 1e-9;
      moved.most_bytes_per_s = device.bytes_per_s;
    }
  }
}

int run_demands(const DemandArguments& arguments) {
  // Costs may be added to in place.
  std::vector<std::string> read = arguments.graphs;
  read.push_back(arguments.machine);
  const Result<void> writable = check_output("--output", arguments.output, read);
  if (!writable) return report(writable.error());
  Result<CostSpec> spec = load_costs(arguments.costs);
  if (!spec) return report(spec.error());
  const Result<Machine> machine = load_machine(arguments.machine);
  if (!machine) return report(machine.error());
  ByKinds all;
  for (const std::string& path : arguments.graphs) {
    const Result<Imported> imported = load_graph(path);
    if (!imported) return report(imported.error());
    const auto good = check_costs(imported->graph, *machine, *spec, path, arguments.costs);
    if (!good) return report(good.error());
    const Costs costs = Costs::build(imported->graph, *machine, *spec).value();
    add_ops(imported->graph, *machine, costs, all);
  }
  int added = 0;
  for (const auto& [kinds, moved] : all) {
    const bool known = std::any_of(
        spec->demands.begin(), spec->demands.end(), [&kinds = kinds](const CostSpec::Demand& row) {
          return row.kind == kinds.first &&
                 (row.device_kind.empty() || row.device_kind == kinds.second);
        });
    if (known || moved.seconds <= 0) continue;
    double rate = moved.bytes / moved.seconds;
    if (moved.most_bytes_per_s > 0) rate = std::min(rate, moved.most_bytes_per_s);
    spec->demands.push_back(
        {.kind = kinds.first, .device_kind = kinds.second, .memory_bytes_per_s = rate});
    ++added;
  }
  const Result<void> written = write_costs(arguments.output, *spec);
  if (!written) return report(written.error());
  fmt::print(stderr, "tutti: {} demands were added to those of {}\n", added, arguments.costs);
  return 0;
}

}  // namespace

void add_costs_demands(CLI::App& costs, int& exit_code) {
  CLI::App* command = costs.add_subcommand(
      "demands",
      "Add the memory traffic of ops: the bytes of their operands and outputs divided by "
      "their run times, as if nothing were cached");
  command->footer(
      "Example: tutti costs demands a.json b.json -m machine.toml --costs costs.json -o "
      "with-demands.json\n"
      "Rows that the costs have already stay as they are.");
  auto arguments = std::make_shared<DemandArguments>();
  command->add_option("graphs", arguments->graphs, "Graphs with such ops")->required();
  command->add_option("-m,--machine", arguments->machine, "Machine file or preset (this-host)");
  command->add_option("--costs", arguments->costs, "Costs file to add to")->required();
  command->add_option("-o,--output", arguments->output,
                      "Costs file to write, as TOML or, by its ending, JSON; default: standard "
                      "output");
  accept_seed(*command);
  command->callback([arguments, &exit_code] { exit_code = run_demands(*arguments); });
}

}  // namespace tutti
