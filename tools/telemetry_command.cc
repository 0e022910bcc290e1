// tutti telemetry: what can be counted on this host.

#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "tools/commands.h"
#include "tools/inputs.h"
#include "tools/print/table.h"
#include "tutti/base/file/json_writer.h"
#include "tutti/machine/discover.h"
#include "tutti/telemetry/available.h"
#include "tutti/telemetry/sampler.h"

namespace tutti {
namespace {

struct TelemetryArguments {
  int readings = 8;
  int interval_ms = 20;
  bool json = false;
};

// One source with what its counters said.
struct Listed {
  std::string name;
  std::string why_not;
  std::vector<Counter> counters{};
  std::vector<CounterReading> readings{};
};

std::vector<Listed> read_all(const Machine& machine, const TelemetryArguments& arguments) {
  std::vector<Listed> listed;
  std::vector<std::unique_ptr<Sampler>> samplers;
  for (AvailableSource& item : available_sources(machine)) {
    listed.push_back({item.name, item.why_not});
    std::vector<std::unique_ptr<CounterSource>> one;
    if (item.source != nullptr) one.push_back(std::move(item.source));
    samplers.push_back(std::make_unique<Sampler>(std::move(one)));
  }
  for (int i = 0; i < arguments.readings; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(arguments.interval_ms));
    for (const auto& sampler : samplers) sampler->sample();
  }
  for (size_t i = 0; i < listed.size(); ++i) {
    listed[i].counters = samplers[i]->counters();
    listed[i].readings = samplers[i]->take();
  }
  return listed;
}

void print_json(const Machine& machine, const std::vector<Listed>& listed) {
  JsonWriter json(4);
  json.open_object().field("schema_version", 1).key("sources").open_list();
  for (const Listed& source : listed) {
    json.open_object().field("name", source.name);
    if (!source.why_not.empty()) json.field("why_not", source.why_not);
    json.key("counters").open_list();
    for (size_t i = 0; i < source.counters.size(); ++i) {
      const Counter& counter = source.counters[i];
      const CounterReading& reading = source.readings[i];
      json.open_object().field("name", counter.name).field("unit", counter.unit);
      json.field("resource", resource_name(machine, counter.resource));
      json.field("mean", reading.mean).field("spread", reading.spread);
      json.field("count", reading.count).close_object();
    }
    json.close_list().close_object();
  }
  json.close_list().close_object();
  fmt::print("{}", json.text());
}

void print_table(const Machine& machine, const std::vector<Listed>& listed) {
  Table table({"counter", "resource", "mean", "spread", "readings", "unit"});
  for (const Listed& source : listed) {
    for (size_t i = 0; i < source.counters.size(); ++i) {
      const Counter& counter = source.counters[i];
      const CounterReading& reading = source.readings[i];
      const bool known = reading.count > 0;
      table.add({source.name + "." + counter.name, resource_name(machine, counter.resource),
                 known ? fmt::format("{:.4g}", reading.mean) : "-",
                 known ? fmt::format("{:.3g}", reading.spread) : "-",
                 fmt::format("{}", reading.count), counter.unit});
    }
  }
  fmt::print("{}", table.text());
  for (const Listed& source : listed) {
    if (!source.why_not.empty()) fmt::print("no {}: {}\n", source.name, source.why_not);
  }
}

int list_counters(const TelemetryArguments& arguments) {
  const Result<Machine> machine = discover_machine();
  if (!machine) return report(machine.error());
  const std::vector<Listed> listed = read_all(*machine, arguments);
  if (arguments.json) {
    print_json(*machine, listed);
  } else {
    print_table(*machine, listed);
  }
  return 0;
}

}  // namespace

void add_telemetry_command(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("telemetry", "List the counters of this host with a few readings of each");
  command->footer("Example: tutti telemetry --readings 16 --interval-ms 50");
  auto arguments = std::make_shared<TelemetryArguments>();
  accept_seed(*command);
  command
      ->add_option("--readings", arguments->readings, "How often to read each counter; default: 8")
      ->check(CLI::Range(1, 10000));
  command
      ->add_option("--interval-ms", arguments->interval_ms,
                   "Milliseconds between two readings; default: 20")
      ->check(CLI::Range(1, 60000));
  command->add_flag("--json", arguments->json, "Print the list as JSON");
  command->callback([arguments, &exit_code] { exit_code = list_counters(*arguments); });
}

}  // namespace tutti
