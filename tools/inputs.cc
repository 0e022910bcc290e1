#include "tools/inputs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <set>

#include "tools/recorded_machine.h"
#include "tutti/base/output.h"
#include "tutti/base/parallel.h"
#include "tutti/costs/file.h"
#include "tutti/graph/names.h"
#include "tutti/machine/preset.h"
#include "tutti/machine/units.h"
#include "tutti/plan/check.h"
#include "tutti/plan/file.h"

namespace tutti {

void ProblemInputs::add_to(CLI::App& command, GraphArgument where) {
  command
      .add_option(where == GraphArgument::first ? "graph" : "-g,--graph", graph,
                  "Graph file, in any format tutti reads; - is standard input")
      ->required();
  add_rest_to(command);
}

void ProblemInputs::add_rest_to(CLI::App& command) {
  command
      .add_option("-m,--machine", machine,
                  "Machine: a preset (tutti machine list), a machine file, this-host, "
                  "this-host:4x2, or recorded "
                  "(WfFormat: the machines named in the graph file)")
      ->capture_default_str();
  command.add_option("--costs", costs, "Costs file: run times by kind, efficiencies, noise");
  command.add_option("--constraints", constraints,
                     "Constraints file: memory, colocation, pins, forbidden pairs");
  add_onnx_flags(command, dims, shards);
  command.add_flag("--scale-by-machine-speed", scale_by_machine_speed,
                   "WfFormat: scale run times by the clock speed of the machine they ran on");
  command.add_flag("--as-recorded", as_recorded,
                   "WfFormat: with --machine recorded, keep every op on the host it ran on");
}

void ProblemInputs::add_noise_to(CLI::App& command) {
  command
      .add_option("--noise", noise,
                  "Spread of log-normal noise on run times and transfers, such as 0.1; 0 is none")
      ->check(finite_range(0, 10));
}

namespace {

// Costs that say nothing are seldom meant: a misspelt kind, or a graph of kinds without a table.
void warn_about_costs(const Graph& graph, const CostSpec& spec, const std::string& graph_file,
                      const std::string& costs_file) {
  const auto& kinds = graph.op_kinds();
  const auto known = [&](const std::string& kind) {
    return kind.empty() || std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
  };
  std::set<std::string> unknown;
  for (const auto& row : spec.run_times) {  // a machine is measured for more than one graph
    if (!known(row.kind) && row.points.empty()) unknown.insert(row.kind);
  }
  for (const auto& row : spec.efficiencies) {
    if (!known(row.kind)) unknown.insert(row.kind);
  }
  if (!unknown.empty()) {
    fmt::print(stderr, "tutti: warning: {}: no op of the graph is of kind '{}'\n", costs_file,
               fmt::join(unknown, "', '"));
  }
  const NameIndex names(graph);
  const auto stranger =
      std::find_if(spec.op_times.begin(), spec.op_times.end(),
                   [&](const CostSpec::OpTime& row) { return !names.find(row.op); });
  if (stranger != spec.op_times.end()) {
    fmt::print(stderr, "tutti: warning: {}: the graph has no op '{}'\n", costs_file,
               one_line(stranger->op));
  }
  if (graph.has_given_run_times() || !spec.run_times.empty() || !spec.op_times.empty()) return;
  int32_t empty = 0;
  for (const OpId op : graph.ops()) {
    int64_t bytes = 0;
    for (const ValueId value : graph.operands(op)) bytes += graph.bytes(value);
    for (const ValueId value : graph.outputs(op)) bytes += graph.bytes(value);
    empty += graph.flops(op) == 0 && bytes == 0;
  }
  if (empty > 0) {
    fmt::print(stderr,
               "tutti: warning: {}: {} ops have neither time, flops nor bytes and count as launch "
               "overhead alone; give their times with --costs\n",
               graph_file, empty);
  }
}

// Costs are by kind of device: a cpu of four cores is not the cpu of one that was measured. What
// was measured stands in parentheses after the machine's name.
void warn_about_units(const CostSpec& spec, const Machine& machine, const std::string& costs_file) {
  if (!spec.calibration || !spec.calibration->machine.ends_with(')')) return;
  const std::string& text = spec.calibration->machine;
  const size_t begin = text.rfind(" (");
  if (begin == std::string::npos) return;
  const std::string measured = text.substr(begin + 2, text.size() - begin - 3);
  const std::string here = units_text(machine);
  const std::string other = first_difference(measured, here);
  if (other.empty()) return;
  fmt::print(stderr,
             "tutti: warning: {}: run times were measured on devices of {} (kind:cores), and "
             "machine '{}' has {}; measure it with tutti calibrate\n",
             costs_file, one_line(other), machine.name(), here);
}

}  // namespace

Result<LoadedProblem> ProblemInputs::load() const {
  return open_and_load(std::nullopt);
}

Result<LoadedProblem> ProblemInputs::load(Source& graph_source) const {
  return load_with(graph_source, std::nullopt);
}

Result<LoadedProblem> ProblemInputs::load_on(Machine given) const {
  return open_and_load(std::move(given));
}

Result<LoadedProblem> ProblemInputs::open_and_load(std::optional<Machine> given) const {
  if (graph == "-" && (machine == "-" || costs == "-" || constraints == "-")) {
    return invalid_input(
        "standard input (-) can be read only once; put one of the inputs in a file");
  }
  Result<Source> source = Source::open(graph);
  if (!source) return source.error();
  return load_with(*source, std::move(given));
}

Result<LoadedProblem> ProblemInputs::load_with(Source& graph_source,
                                               std::optional<Machine> given) const {
  LoadedProblem loaded;
  Result<std::vector<std::pair<std::string, int64_t>>> sizes = parse_dims(dims);
  if (!sizes) return sizes.error();
  Result<Imported> imported =
      load_graph(graph_source, {.scale_by_machine_speed = scale_by_machine_speed,
                                .dims = std::move(*sizes),
                                .shards = shards});
  if (!imported) return imported.error();
  for (const std::string& warning : imported->warnings) {
    fmt::print(stderr, "tutti: warning: {}: {}\n", graph, warning);
  }
  if (const auto meant = require_onnx(dims, shards, graph, imported->format); !meant) {
    return meant.error();
  }
  if ((scale_by_machine_speed || as_recorded) && imported->format != "wfformat") {
    return invalid_input(fmt::format(
        "{}: --scale-by-machine-speed and --as-recorded are for WfFormat files, and this is {}",
        graph, imported->format));
  }
  if (as_recorded && machine != "recorded") {
    return invalid_input(
        "--as-recorded needs --machine recorded: only there are the hosts it names");
  }
  loaded.imported = std::make_unique<Imported>(std::move(*imported));
  Result<Machine> loaded_machine = given                   ? Result<Machine>(std::move(*given))
                                   : machine == "recorded" ? recorded_machine(*loaded.imported)
                                                           : load_machine(machine);
  if (!loaded_machine) return loaded_machine.error();
  loaded.machine = std::make_unique<Machine>(std::move(*loaded_machine));
  Result<CostSpec> loaded_costs = load_costs(costs);
  if (!loaded_costs) return loaded_costs.error();
  CostSpec spec = std::move(*loaded_costs);
  if (noise) {
    spec.run_time_noise = {.model = NoiseSpec::Model::log_normal, .spread = *noise};
    spec.transfer_noise = spec.run_time_noise;
    spec.kind_noise.clear();
    spec.ignore_spreads = true;
  }
  loaded.calibration = spec.calibration;
  loaded.validation = spec.validation;
  Result<Costs> built = Costs::build(loaded.imported->graph, *loaded.machine, spec);
  if (!built) return Error{built.error().kind, graph + ": " + built.error().message};
  loaded.costs = std::make_unique<Costs>(std::move(*built));
  warn_about_costs(loaded.imported->graph, spec, graph, costs);
  warn_about_units(spec, *loaded.machine, costs);
  Constraints rules;
  if (!constraints.empty()) {
    Result<Source> source = Source::open(constraints);
    if (!source) return source.error();
    Result<Constraints> read = read_constraints(*source);
    if (!read) return read.error();
    rules = std::move(*read);
  }
  if (values_are_files && rules.memory_limits.empty()) rules.memory = false;
  if (as_recorded) pin_as_recorded(*loaded.imported, rules);
  Result<Problem> problem =
      Problem::make(loaded.imported->graph, *loaded.machine, *loaded.costs, rules);
  if (!problem) {
    const std::string& about = constraints.empty() ? graph : constraints;
    return Error{problem.error().kind, about + ": " + problem.error().message};
  }
  loaded.problem = std::make_unique<Problem>(std::move(*problem));
  return loaded;
}

void add_onnx_flags(CLI::App& command, std::vector<std::string>& dims, int& shards) {
  command
      .add_option("--dim", dims,
                  "ONNX: the size of an open dimension, such as batch=8; once for each")
      ->allow_extra_args(false);  // or it would take the graph's name for another
  command
      .add_option("--shard", shards,
                  "ONNX: split large products with weights into that many blocks of columns")
      ->check(CLI::Range(1, 4096));
}

Result<std::vector<std::pair<std::string, int64_t>>> parse_dims(
    const std::vector<std::string>& dims) {
  std::vector<std::pair<std::string, int64_t>> sizes;
  for (const std::string& dim : dims) {
    const size_t equals = dim.rfind('=');
    int64_t size = -1;
    if (equals != std::string::npos && equals > 0) {
      const char* end = dim.data() + dim.size();
      const auto [rest, code] = std::from_chars(dim.data() + equals + 1, end, size);
      if (code != std::errc{} || rest != end) size = -1;
    }
    if (size < 0 || size > std::numeric_limits<int32_t>::max()) {
      return invalid_input(fmt::format(
          "--dim takes a name and a size up to 2^31 - 1, such as batch=8, not '{}'", dim));
    }
    sizes.emplace_back(dim.substr(0, equals), size);
  }
  return sizes;
}

Result<void> require_onnx(const std::vector<std::string>& dims, int shards, const std::string& path,
                          const std::string& format) {
  if ((dims.empty() && shards == 1) || format == "onnx") return {};
  return invalid_input(fmt::format("{}: {} is for ONNX models, and this is {}; leave it out", path,
                                   dims.empty() ? "--shard" : "--dim", format));
}

Result<Plan> load_good_plan(const std::string& path, const Problem& problem) {
  Result<Source> source = Source::open(path);
  if (!source) return source.error();
  return load_good_plan(*source, problem);
}

Result<Plan> load_good_plan(Source& source, const Problem& problem) {
  Result<Plan> plan = read_plan(source, problem);
  if (!plan) return plan.error();
  // With other costs its own times are wrong, and only they: it can be run all the same.
  if (plan->provenance.machine_fingerprint != problem.machine.fingerprint() ||
      plan->provenance.costs_fingerprint != problem.costs.fingerprint()) {
    plan->start.clear();
    plan->finish.clear();
    plan->planned_makespan = Duration{0};
  }
  const std::vector<std::string> faults = check_plan(problem, *plan, 1);
  if (!faults.empty()) return invalid_input(source.name() + ": " + faults[0]);
  warn_of_another_problem(source.name(), *plan, problem);
  return plan;
}

void warn_of_another_problem(const std::string& path, const Plan& plan, const Problem& problem) {
  const bool machine = plan.provenance.machine_fingerprint != problem.machine.fingerprint();
  const bool costs = plan.provenance.costs_fingerprint != problem.costs.fingerprint();
  if (!machine && !costs) return;
  fmt::print(stderr, "tutti: warning: {}: the plan was made for {}\n", path,
             machine && costs ? "another machine and other costs"
             : machine        ? "another machine"
                              : "other costs");
}

CLI::Validator finite_range(double least, double most) {
  return CLI::Validator(
      [least, most](std::string& text) {
        double number = 0;
        const bool good =
            CLI::detail::lexical_cast(text, number) && number >= least && number <= most;
        return good ? std::string() : fmt::format("must be a number from {} to {}", least, most);
      },
      fmt::format("FLOAT in [{} - {}]", least, most));
}

CLI::Validator whole_number() {
  return CLI::Validator(
      [](std::string& text) {
        uint64_t number = 0;
        const char* end = text.data() + text.size();
        const auto [rest, error] = std::from_chars(text.data(), end, number);
        return error == std::errc{} && rest == end ? std::string()
                                                   : "must be a whole number from 0 to 2^64 - 1";
      },
      "WHOLE");
}

void accept_seed(CLI::App& command) {
  command.add_option("--seed", "Accepted as everywhere; nothing here is random")
      ->check(whole_number());
}

Result<CostSpec> load_costs(const std::string& path) {
  if (path.empty()) return CostSpec{};
  Result<Source> source = Source::open(path);
  if (!source) return source.error();
  return read_costs(*source);
}

Result<void> check_output(const std::string& flag, const std::string& output,
                          const std::vector<std::string>& inputs) {
  if (output.empty()) return {};
  for (const std::string& input : inputs) {
    if (input.empty() || output == "-" || !name_one_file(output, input)) continue;
    return invalid_input(
        fmt::format("{} names {}, which is read; name another file", flag, output));
  }
  return probe_output(output);
}

void CommonOptions::add_to(CLI::App& command) {
  command.add_option("--seed", seed, "Seed of all random choices")
      ->check(whole_number())
      ->capture_default_str();
  command.add_option("--threads", threads, "Threads; 0 is one per usable core")
      ->check(CLI::Range(0, 4096))
      ->capture_default_str();
  command.add_flag("--json", json, "Print the result as JSON");
}

int CommonOptions::thread_count() const {
  return threads > 0 ? threads : usable_cores();
}

void ModelOptions::add_to(CLI::App& command) {
  std::string what = "physical: slots, links, memory";
  std::vector<std::string> names;
  for (const SimModel known : sim_models()) {
    names.push_back(known.name());
    if (known.other() != nullptr) what += "; " + known.name() + ": " + known.other()->what;
  }
  command.add_option("--model", model, what)->check(CLI::IsMember(names))->capture_default_str();
  order_flag_ = command
                    .add_option("--order", order,
                                "Who goes first among ready ops on a device (physical model)")
                    ->check(CLI::IsMember(
                        std::vector<std::string>(kReadyOrderWords.begin(), kReadyOrderWords.end())))
                    ->capture_default_str();
}

Result<void> ModelOptions::check(const ProblemInputs& inputs) const {
  if (sim_model() == SimModel::physical) return {};
  if (order_flag_->count() > 0) {
    return invalid_input(fmt::format(
        "--order is for the physical model; the {} one has its own order; leave it out", model));
  }
  if (inputs.noise.value_or(0) > 0) {
    return invalid_input(fmt::format(
        "--noise is for the physical model; the {} one takes mean durations; leave it out", model));
  }
  return {};
}

SimModel ModelOptions::sim_model() const {
  return *find_sim_model(model);  // add_to lets nothing else through
}

ReadyOrder ModelOptions::ready_order() const {
  return *find_ready_order(order);  // add_to lets nothing else through
}

int report(const Error& error) {
  fmt::print(stderr, "tutti: {}\n", error.message);
  switch (error.kind) {
    case Error::Kind::invalid_input:
      return 2;
    case Error::Kind::infeasible:
      return 3;
    case Error::Kind::failed:
      return 1;
  }
  return 1;
}

bool shows_progress() {
  return ::isatty(STDERR_FILENO) != 0;
}

}  // namespace tutti
