#include "tutti/calibrate/experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "tutti/base/random.h"
#include "tutti/calibrate/observe.h"
#include "tutti/costs/costs.h"
#include "tutti/graph/builder.h"

namespace tutti {
namespace {

// How often an op stands on each slot. The first on each slot may find it cold.
int copies_of(const OpWork& work) {
  const bool large = work.flops > 1e8 || work.read_bytes + work.written_bytes > 4e6;
  return large ? 3 : 8;
}

ValueSpec spec_of(const Graph& graph, ValueId value) {
  const auto shape = graph.shape(value);
  return {.bytes = graph.bytes(value),
          .shape = {shape.begin(), shape.end()},
          .dtype = graph.dtype(value)};
}

std::string shape_text(const Graph& graph, OpId op) {
  std::string text;
  for (const ValueId value : graph.operands(op)) {
    std::string one;
    for (const int64_t size : graph.shape(value)) {
      one += (one.empty() ? "" : "x") + std::to_string(size);
    }
    text += (text.empty() ? " " : ", ") + one;
  }
  return text.size() > 60 ? text.substr(0, 57) + "..." : text;
}

Residence on(const Machine& machine, DeviceId device) {
  return {.where = Residence::Where::device, .device = machine.device(device).name};
}

Experiment probe(const Machine& machine, const Graph& graph, OpId op, const CanRun& can_run) {
  const std::string kind(graph.op_kind_name(op));
  Experiment made{.what = kind + shape_text(graph, op), .graph = {}, .placement = {}};
  GraphBuilder builder(made.what);
  std::vector<std::pair<std::string, std::string>> attributes;
  for (const auto& [key, value] : graph.attributes(op)) attributes.emplace_back(key, value);
  std::vector<ValueSpec> outputs;
  for (const ValueId value : graph.outputs(op)) outputs.push_back(spec_of(graph, value));
  const int copies = copies_of(work_of(graph, op));
  for (const DeviceId device : machine.devices()) {
    if (!can_run(kind, machine.device(device).kind)) continue;
    for (int i = 0; i < copies * machine.device(device).slots; ++i) {
      std::vector<ValueId> operands;
      for (const ValueId value : graph.operands(op)) {
        operands.push_back(
            builder.add_input({.value = spec_of(graph, value), .residence = on(machine, device)}));
      }
      const std::string name = fmt::format("{}.{}", machine.device(device).name, i);
      builder.add_op({.name = name,
                      .kind = kind,
                      .operands = operands,
                      .outputs = outputs,
                      .flops = graph.flops(op),
                      .attributes = attributes});
      made.placement.push_back(device);
    }
  }
  made.graph = std::move(builder).build().value();
  return made;
}

// One value of that size after another from one memory to another, each read by a small op there.
// Where a channel divides its bandwidth they would disturb each other: then there is one.
Experiment route_probe(const Machine& machine, MemoryId from, DeviceId to, int64_t bytes) {
  const Route& route = *machine.route(from, machine.memory_of(to));
  Experiment made{.what = fmt::format("{} from {} to {}", bytes_to_text(bytes),
                                      machine.memory(from).name, machine.device(to).name),
                  .graph = {},
                  .placement = {}};
  Residence home{.where = Residence::Where::host};
  for (const DeviceId device : machine.devices()) {
    if (machine.memory_of(device) == from) home = on(machine, device);
  }
  const bool shared = std::any_of(route.hops.begin(), route.hops.end(),
                                  [](const Hop& hop) { return !hop.shared.empty(); });
  GraphBuilder builder(made.what);
  const ValueSpec value{.bytes = bytes, .shape = {bytes / 4}, .dtype = DType::f32};
  const std::vector<ValueSpec> outputs = {value};
  for (int i = 0; i < (shared ? 1 : 4); ++i) {
    const std::vector<ValueId> operands = {builder.add_input({.value = value, .residence = home})};
    const std::string name = std::to_string(i);
    builder.add_op({.name = name,
                    .kind = "relu",
                    .operands = operands,
                    .outputs = outputs,
                    .flops = static_cast<double>(bytes) / 4});
    made.placement.push_back(to);
  }
  made.graph = std::move(builder).build().value();
  return made;
}

}  // namespace

std::vector<Experiment> op_probes(const Machine& machine, std::span<const Graph* const> graphs,
                                  const CanRun& can_run) {
  std::map<std::pair<std::string, OpWork>, std::pair<const Graph*, OpId>> examples;
  for (const Graph* graph : graphs) {
    for (const OpId op : graph->ops()) {
      examples.try_emplace({std::string(graph->op_kind_name(op)), work_of(*graph, op)}, graph, op);
    }
  }
  std::vector<Experiment> probes;
  for (const auto& [key, example] : examples) {
    Experiment made = probe(machine, *example.first, example.second, can_run);
    if (!made.placement.empty()) probes.push_back(std::move(made));
  }
  return probes;
}

std::vector<Experiment> route_probes(const Machine& machine, const CanRun& can_run) {
  std::vector<Experiment> probes;
  std::set<std::string> covered;
  for (int32_t from = 0; from < machine.memory_count(); ++from) {
    for (const DeviceId to : machine.devices()) {
      const MemoryId target = machine.memory_of(to);
      if (target.index == from || !can_run("relu", machine.device(to).kind)) continue;
      const Route* route = machine.route(MemoryId{from}, target);
      const bool host = std::any_of(machine.hosts().begin(), machine.hosts().end(),
                                    [&](const Host& h) { return h.memory.index == from; });
      const bool reachable = machine.host_memory().index == from || !host;
      if (route == nullptr || !reachable) continue;
      bool has_news = false;
      for (const Hop& hop : route->hops) has_news |= covered.insert(hop_name(machine, hop)).second;
      if (!has_news) continue;
      for (const int64_t bytes : {4 << 10, 64 << 10, 1 << 20, 16 << 20}) {
        probes.push_back(route_probe(machine, MemoryId{from}, to, bytes));
      }
    }
  }
  return probes;
}

Result<std::vector<Experiment>> whole_graphs(const Machine& machine, const Graph& graph, int count,
                                             uint64_t seed, const CanRun& can_run) {
  std::vector<Experiment> made;
  for (int i = 0; i < count; ++i) {
    Rng rng = Rng(seed).split(graph.fingerprint()).split(static_cast<uint64_t>(i));
    Experiment one{.what = graph.name(), .graph = graph, .placement = {}};
    for (const OpId op : graph.ops()) {
      std::vector<DeviceId> able;
      for (const DeviceId device : machine.devices()) {
        if (can_run(graph.op_kind_name(op), machine.device(device).kind)) able.push_back(device);
      }
      if (able.empty()) {
        return invalid_input(
            fmt::format("no device of machine '{}' has code for kind '{}' (op '{}')",
                        machine.name(), graph.op_kind_name(op), graph.op_name(op)));
      }
      one.placement.push_back(able[rng.below(able.size())]);
    }
    made.push_back(std::move(one));
  }
  return made;
}

CostSpec unit_costs(const Graph& graph, const Machine& machine, const CanRun& can_run) {
  CostSpec spec;
  spec.ignore_given_times = true;
  std::set<std::string> kinds;
  for (const DeviceId device : machine.devices()) kinds.insert(machine.device(device).kind);
  for (const std::string& kind : graph.op_kinds()) {
    for (const std::string& device_kind : kinds) {
      if (!can_run(kind, device_kind)) continue;
      spec.run_times.push_back(
          {.kind = kind, .device_kind = device_kind, .time_ns_by_size = {{0, 1000}}});
    }
  }
  return spec;
}

}  // namespace tutti
