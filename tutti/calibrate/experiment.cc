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

// How often an op stands on each slot.
constexpr int kMostCopies = 4;
int copies_of(const OpWork& work) {
  const bool large = work.flops > 1e8 || work.read_bytes + work.written_bytes > 4e6;
  return large ? 1 : kMostCopies;
}

// Of one probe on one device. A large op is a probe of its own.
constexpr double kMostBytes = 64e6;

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

// One op to be measured.
struct Subject {
  const Graph* graph;
  OpId op;
  OpWork work;
};

void add_copy(GraphBuilder& builder, const Machine& machine, DeviceId device,
              const Subject& subject) {
  const Graph& graph = *subject.graph;
  std::vector<std::pair<std::string, std::string>> attributes;
  for (const auto& [key, value] : graph.attributes(subject.op)) attributes.emplace_back(key, value);
  std::vector<ValueSpec> outputs;
  for (const ValueId value : graph.outputs(subject.op)) outputs.push_back(spec_of(graph, value));
  std::vector<ValueId> operands;
  for (const ValueId value : graph.operands(subject.op)) {
    operands.push_back(
        builder.add_input({.value = spec_of(graph, value), .residence = on(machine, device)}));
  }
  const std::string name = std::to_string(builder.op_count());
  builder.add_op({.name = name,
                  .kind = graph.op_kind_name(subject.op),
                  .operands = operands,
                  .outputs = outputs,
                  .flops = graph.flops(subject.op),
                  .attributes = attributes});
}

bool is_quick_on(const Device& device, const OpWork& work) {
  const auto most = static_cast<double>(kLongestProbe.count()) / 1e9;
  return (device.flops_per_s <= 0 || work.flops / device.flops_per_s <= most) &&
         (device.bytes_per_s <= 0 ||
          (work.read_bytes + work.written_bytes) / device.bytes_per_s <= most);
}

// Ops of one kind, so many copies of each for each slot, on every device that has time for them.
// Those of one size stand apart, so that none finds the caches as its like left them.
Experiment probe(const Machine& machine, std::span<const Subject> subjects, const CanRun& can_run) {
  const std::string kind(subjects[0].graph->op_kind_name(subjects[0].op));
  Experiment made{
      .what = kind + shape_text(*subjects[0].graph, subjects[0].op), .graph = {}, .placement = {}};
  if (subjects.size() > 1) made.what += fmt::format(" and {} more", subjects.size() - 1);
  GraphBuilder builder(made.what);
  for (const DeviceId id : machine.devices()) {
    const Device& device = machine.device(id);
    if (!can_run(kind, device.kind)) continue;
    for (int i = 0; i < kMostCopies * device.slots; ++i) {
      for (const Subject& subject : subjects) {
        if (i >= copies_of(subject.work) * device.slots || !is_quick_on(device, subject.work)) {
          continue;
        }
        add_copy(builder, machine, id, subject);
        made.placement.push_back(id);
      }
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

bool is_probe(const Graph& graph) {
  for (const ValueId value : graph.values()) {
    if (graph.producer(value).valid() && !graph.consumers(value).empty()) return false;
  }
  return true;
}

std::vector<Experiment> op_probes(const Machine& machine, std::span<const Graph* const> graphs,
                                  const CanRun& can_run, const std::vector<std::string>& kinds) {
  std::map<std::string, std::map<OpWork, Subject>> by_kind;
  for (const Graph* graph : graphs) {
    for (const OpId op : graph->ops()) {
      const std::string kind(graph->op_kind_name(op));
      if (!kinds.empty() && std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) continue;
      const OpWork work = work_of(*graph, op);
      by_kind[kind].try_emplace(work, Subject{graph, op, work});
    }
  }
  std::vector<Experiment> probes;
  const auto take = [&](std::vector<Subject>& subjects) {
    if (subjects.empty()) return;
    Experiment made = probe(machine, subjects, can_run);
    if (!made.placement.empty()) probes.push_back(std::move(made));
    subjects.clear();
  };
  for (const auto& [kind, works] : by_kind) {
    std::vector<Subject> subjects;
    double bytes = 0;
    for (const auto& [work, subject] : works) {
      const double more = copies_of(work) * (work.read_bytes + work.written_bytes);
      if (bytes + more > kMostBytes) {
        take(subjects);
        bytes = 0;
      }
      bytes += more;
      subjects.push_back(subject);
    }
    take(subjects);
  }
  return probes;
}

std::vector<std::string> unmeasured_ops(const Machine& machine,
                                        std::span<const Graph* const> graphs,
                                        const CanRun& can_run) {
  std::map<std::string, std::vector<const Device*>> devices;  // by kind
  for (const DeviceId id : machine.devices()) {
    devices[machine.device(id).kind].push_back(&machine.device(id));
  }
  struct Left {
    int no_code = 0;
    int too_long = 0;
    std::string first{};  // of those that take too long
  };
  std::map<std::pair<std::string, std::string>, Left> left;
  for (const Graph* graph : graphs) {
    for (const OpId op : graph->ops()) {
      const std::string kind(graph->op_kind_name(op));
      const OpWork work = work_of(*graph, op);
      for (const auto& [device_kind, some] : devices) {
        const bool quick = std::any_of(some.begin(), some.end(), [&](const Device* device) {
          return is_quick_on(*device, work);
        });
        if (!can_run(kind, device_kind)) {
          ++left[{kind, device_kind}].no_code;
        } else if (!quick && ++left[{kind, device_kind}].too_long == 1) {
          left[{kind, device_kind}].first = kind + shape_text(*graph, op);
        }
      }
    }
  }
  std::vector<std::string> sentences;
  for (const auto& [key, what] : left) {
    if (what.no_code > 0) {
      sentences.push_back(fmt::format("kind {} on {}: there is no code for it (ops: {})", key.first,
                                      key.second, what.no_code));
      continue;
    }
    sentences.push_back(fmt::format(
        "{}{} on {}: by the device's rates it takes longer than {}, so that smaller sizes of its "
        "kind are measured instead",
        what.first, what.too_long > 1 ? fmt::format(" and {} more", what.too_long - 1) : "",
        key.second, to_text(kLongestProbe)));
  }
  return sentences;
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
