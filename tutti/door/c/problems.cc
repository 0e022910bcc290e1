// Machines and problems of the C interface.

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "tutti/costs/assumed.h"
#include "tutti/costs/coverage.h"
#include "tutti/costs/file.h"
#include "tutti/costs/warnings.h"
#include "tutti/door/c/handles.h"
#include "tutti/machine/file.h"
#include "tutti/machine/preset.h"

namespace tutti::door {

Duration ProblemData::lower_bound() const {
  std::call_once(bound_once_, [this] { bound_ = lower_bounds(problem).strongest(); });
  return bound_;
}

const char* ProblemData::op_name(OpId op) const {
  std::call_once(names_once_, [this] {
    names_.reserve(static_cast<size_t>(problem.graph.size()));
    for (const OpId each : problem.graph.ops()) names_.emplace_back(problem.graph.op_name(each));
  });
  return names_[static_cast<size_t>(op.index)].c_str();
}

namespace {

// The source of a file or a text; none if neither is given.
Result<std::optional<Source>> source_of(const char* file, const char* text, const char* what) {
  if (file != nullptr && text != nullptr) {
    return invalid_input(fmt::format("{0} are given as a file and as a text; take one", what));
  }
  if (text != nullptr) return std::optional<Source>(Source::from_text(what, text));
  if (file == nullptr) return std::optional<Source>();
  Result<Source> source = Source::open(file);
  if (!source) return source.error();
  return std::optional<Source>(std::move(*source));
}

Result<CostSpec> costs_of(const tutti_problem_options& options) {
  CostSpec spec;
  Result<std::optional<Source>> source = source_of(options.costs_file, options.costs_text, "costs");
  if (!source) return source.error();
  if (*source) {
    Result<CostSpec> read = read_costs(**source);
    if (!read) return read.error();
    spec = std::move(*read);
  }
  if (options.has_noise != 0) {
    if (!std::isfinite(options.noise) || options.noise < 0 || options.noise > 10) {
      return invalid_input(fmt::format("noise is {}; it must be from 0 to 10", options.noise));
    }
    spec.run_time_noise = {.model = NoiseSpec::Model::log_normal, .spread = options.noise};
    spec.transfer_noise = spec.run_time_noise;
    spec.kind_noise.clear();
    spec.ignore_spreads = true;
  }
  return spec;
}

Result<Constraints> constraints_of(const tutti_problem_options& options) {
  Constraints rules;
  Result<std::optional<Source>> source =
      source_of(options.constraints_file, options.constraints_text, "constraints");
  if (!source) return source.error();
  if (*source) {
    Result<Constraints> read = read_constraints(**source);
    if (!read) return read.error();
    rules = std::move(*read);
  }
  rules.cold = options.cold != 0;
  return rules;
}

Result<tutti_problem*> make(const Shared<Graph>& graph, const Shared<Machine>& machine,
                            const tutti_problem_options& options) {
  Result<CostSpec> spec = costs_of(options);
  if (!spec) return spec.error();
  const std::string costs = options.costs_file != nullptr ? options.costs_file : "costs";
  if (const Result<void> good = check_names(*graph, *machine, *spec, costs); !good) {
    return good.error();
  }
  std::string warnings;
  const AssumedTimes assumed = assume_equal_commands(*graph, *spec);
  if (assumed.commands > 0) {
    warnings += fmt::format("{}: {} commands have no run time and are assumed to take {} each\n",
                            graph->name(), assumed.commands, to_text(assumed.each));
  }
  const Result<Constraints> rules = constraints_of(options);
  if (!rules) return rules.error();
  const Result<Problem> unconstrained = Problem::make(graph, machine, *spec);
  if (!unconstrained) {
    return Error{unconstrained.error().kind, graph->name() + ": " + unconstrained.error().message};
  }
  for (const std::string& text : cost_warnings(unconstrained->costs, *spec, graph->name(), costs)) {
    warnings += text + "\n";
  }
  Result<Problem> problem = unconstrained->with_constraints(*rules);
  if (!problem) {
    return Error{problem.error().kind, graph->name() + ": " + problem.error().message};
  }
  auto data = std::make_shared<ProblemData>(std::move(*problem));
  data->warnings = std::move(warnings);
  return new tutti_problem{std::move(data)};
}

const Problem& of(const tutti_problem* handle) {
  return handle->data->problem;
}

bool has_op(const tutti_problem* handle, int32_t op) {
  return handle != nullptr && op >= 0 && op < of(handle).graph.size();
}

bool has_device(const tutti_problem* handle, int32_t device) {
  return handle != nullptr && device >= 0 && device < of(handle).machine.size();
}

tutti_machine* machine_handle(Result<Machine> machine, tutti_error* error) {
  if (machine) return new tutti_machine{std::move(*machine)};
  tell(error, machine.error());
  return nullptr;
}

}  // namespace
}  // namespace tutti::door

using namespace tutti;        // NOLINT: the rest of this file is in C's only namespace
using namespace tutti::door;  // NOLINT

tutti_machine* tutti_machine_load(const char* name_or_path, tutti_error* error) {
  return guarded<tutti_machine*>(error, nullptr, [&] {
    const Result<void> good = require("tutti_machine_load", name_or_path);
    return machine_handle(good ? load_machine(name_or_path) : Result<Machine>(good.error()), error);
  });
}

tutti_machine* tutti_machine_parse(const char* text, size_t length, const char* name,
                                   tutti_error* error) {
  return guarded<tutti_machine*>(error, nullptr, [&] {
    const Result<void> good = require("tutti_machine_parse", text);
    if (!good) return machine_handle(good.error(), error);
    Source source = Source::from_text(text_or(name, "machine"), std::string(text, length));
    return machine_handle(read_machine(source), error);
  });
}

void tutti_machine_free(tutti_machine* machine) {
  delete machine;
}

tutti_problem* tutti_problem_make(const tutti_graph* graph, const tutti_machine* machine,
                                  const tutti_problem_options* options, tutti_error* error) {
  return guarded<tutti_problem*>(error, nullptr, [&]() -> tutti_problem* {
    Result<void> good = require("tutti_problem_make", graph, machine);
    const Result<tutti_problem_options> read = options_of(options);
    if (good && !read) good = read.error();
    const Result<tutti_problem*> made =
        good ? make(graph->graph, machine->machine, *read) : Result<tutti_problem*>(good.error());
    if (made) return *made;
    tell(error, made.error());
    return nullptr;
  });
}

void tutti_problem_free(tutti_problem* problem) {
  delete problem;
}

const char* tutti_problem_warnings(const tutti_problem* problem) {
  return problem == nullptr ? "" : problem->data->warnings.c_str();
}

const char* tutti_problem_graph_name(const tutti_problem* problem) {
  return problem == nullptr ? nullptr : of(problem).graph.name().c_str();
}

const char* tutti_problem_machine_name(const tutti_problem* problem) {
  return problem == nullptr ? nullptr : of(problem).machine.name().c_str();
}

int32_t tutti_problem_op_count(const tutti_problem* problem) {
  return problem == nullptr ? 0 : of(problem).graph.size();
}

int32_t tutti_problem_value_count(const tutti_problem* problem) {
  return problem == nullptr ? 0 : of(problem).graph.value_count();
}

int32_t tutti_problem_edge_count(const tutti_problem* problem) {
  return problem == nullptr ? 0 : of(problem).graph.edge_count();
}

int32_t tutti_problem_device_count(const tutti_problem* problem) {
  return problem == nullptr ? 0 : of(problem).machine.size();
}

int32_t tutti_problem_memory_count(const tutti_problem* problem) {
  return problem == nullptr ? 0 : of(problem).machine.memory_count();
}

const char* tutti_problem_op_name(const tutti_problem* problem, int32_t op) {
  return guarded<const char*>(nullptr, nullptr, [&] {
    return has_op(problem, op) ? problem->data->op_name(OpId{op}) : nullptr;
  });
}

const char* tutti_problem_op_kind(const tutti_problem* problem, int32_t op) {
  if (!has_op(problem, op)) return nullptr;
  const Graph& graph = of(problem).graph;
  return graph.op_kinds()[static_cast<size_t>(graph.op_kind(OpId{op}).index)].c_str();
}

const char* tutti_problem_device_name(const tutti_problem* problem, int32_t device) {
  if (!has_device(problem, device)) return nullptr;
  return of(problem).machine.device(DeviceId{device}).name.c_str();
}

const char* tutti_problem_device_kind(const tutti_problem* problem, int32_t device) {
  if (!has_device(problem, device)) return nullptr;
  return of(problem).machine.device(DeviceId{device}).kind.c_str();
}

const char* tutti_problem_memory_name(const tutti_problem* problem, int32_t memory) {
  if (memory < 0 || memory >= tutti_problem_memory_count(problem)) return nullptr;
  return of(problem).machine.memory(MemoryId{memory}).name.c_str();
}

int32_t tutti_problem_output(const tutti_problem* problem, int32_t op, int32_t output) {
  if (!has_op(problem, op)) return -1;
  const IdRange<ValueId> outputs = of(problem).graph.outputs(OpId{op});
  return output < 0 || output >= outputs.size() ? -1 : outputs.front().index + output;
}

int tutti_problem_run_times(const tutti_problem* problem, int64_t* times_ns, size_t count,
                            tutti_error* error) {
  if (const Result<void> good = require("tutti_problem_run_times", problem, times_ns); !good) {
    return tell(error, good.error());
  }
  const Problem& its = of(problem);
  const auto devices = static_cast<size_t>(its.machine.size());
  if (count != static_cast<size_t>(its.graph.size()) * devices) {
    return tell(error, invalid_input(fmt::format("{} run times were asked for, and there are {}",
                                                 count, its.graph.size() * devices)));
  }
  for (const OpId op : its.graph.ops()) {
    for (const DeviceId device : its.machine.devices()) {
      const Duration time = its.costs.run_time(op, device);
      *times_ns++ = time < kNever ? time.count() : -1;
    }
  }
  return clear(error);
}

int32_t tutti_problem_edges(const tutti_problem* problem, int32_t* producers, int32_t* consumers,
                            int64_t* bytes, size_t count) {
  if (problem == nullptr) return 0;
  const Graph& graph = of(problem).graph;
  size_t row = 0;
  for (const OpId op : graph.ops()) {
    for (const EdgeId edge : graph.edges(op)) {
      if (!graph.edge_from(edge).valid()) continue;
      if (row < count) {
        if (producers != nullptr) producers[row] = graph.edge_from(edge).index;
        if (consumers != nullptr) consumers[row] = op.index;
        if (bytes != nullptr) bytes[row] = graph.bytes(graph.edge_value(edge));
      }
      ++row;
    }
  }
  return static_cast<int32_t>(row);
}

int64_t tutti_problem_lower_bound(const tutti_problem* problem) {
  return guarded<int64_t>(nullptr, -1, [&]() -> int64_t {
    return problem == nullptr ? -1 : problem->data->lower_bound().count();
  });
}
