#include <fmt/format.h>

#include <map>
#include <optional>

#include "tutti/base/file/json_writer.h"
#include "tutti/plan/export/export.h"
#include "tutti/plan/export/numbering.h"

namespace tutti {
namespace {

// By device: "cpu", or "cuda:" and its number on its host.
std::vector<std::string> torch_names(const Machine& machine) {
  std::vector<std::string> names;
  for (const DeviceNumber& number : number_devices(machine)) {
    names.push_back(number.on_host_memory ? "cpu" : fmt::format("cuda:{}", number.index));
  }
  return names;
}

// The device of each module that ops name in their attribute "module"; none if its ops are apart.
std::map<std::string_view, std::optional<std::string>> modules_of(
    const Plan& plan, const Graph& graph, const std::vector<std::string>& names) {
  std::map<std::string_view, std::optional<std::string>> modules;
  for (const OpId op : graph.ops()) {
    const std::string& name = names[static_cast<size_t>(plan.placement[op.index].index)];
    for (const auto& [key, module] : graph.attributes(op)) {
      if (key != "module") continue;
      const auto [place, is_new] = modules.try_emplace(module, name);
      if (!is_new && place->second != name) place->second.reset();
    }
  }
  return modules;
}

}  // namespace

std::string plan_to_device_map(const Plan& plan, const Problem& problem) {
  const std::vector<std::string> names = torch_names(problem.machine);
  JsonWriter json;
  json.open_object().field("format", "tutti-device-map").field("schema_version", 1);
  json.field("graph", problem.graph.name()).field("machine", problem.machine.name());
  json.key("devices").open_object();
  for (const DeviceId device : problem.machine.devices()) {
    json.field(problem.machine.device(device).name, names[static_cast<size_t>(device.index)]);
  }
  json.close_object().key("ops").open_object();
  for (const OpId op : problem.graph.ops()) {
    json.field(problem.graph.op_name(op),
               names[static_cast<size_t>(plan.placement[op.index].index)]);
  }
  json.close_object().key("modules").open_object();
  for (const auto& [module, device] : modules_of(plan, problem.graph, names)) {
    if (device) json.field(module, *device);
  }
  json.close_object().close_object();
  return json.take();
}

}  // namespace tutti
