#include "tools/inputs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include "tutti/base/file/output.h"
#include "tutti/base/parallel.h"
#include "tutti/costs/assumed.h"
#include "tutti/costs/coverage.h"
#include "tutti/costs/file.h"
#include "tutti/costs/warnings.h"
#include "tutti/machine/file.h"
#include "tutti/machine/preset.h"
#include "tutti/plan/check/check.h"
#include "tutti/plan/file.h"
#include "tutti/plan/recorded_machine.h"

namespace tutti {

void ProblemInputs::add_to(CLI::App& command, GraphArgument where) {
  command
      .add_option(where == GraphArgument::first ? "graph" : "-g,--graph", graph,
                  "Graph file, in any format tutti reads; - is standard input")
      ->required();
  add_rest_to(command);
}

void ProblemInputs::add_rest_to(CLI::App& command) {
  machine_flag = command
                     .add_option("-m,--machine", machine,
                                 "Machine: a preset (tutti machine list), a machine file, "
                                 "this-host, this-host:4x2, or recorded (WfFormat, "
                                 "dnn_partitioning: the machines named in the graph file; the "
                                 "default for dnn_partitioning)")
                     ->capture_default_str();
  command.add_option("--costs", costs, "Costs file: run times by kind, efficiencies, noise");
  command.add_option("--constraints", constraints,
                     "Constraints file: memory, colocation, pins, forbidden pairs");
  import_flags.add_to(command);
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

void ProblemInputs::add_cold_to(CLI::App& command) {
  command.add_flag(
      "--cold", cold,
      "Count the time in which kept weights are loaded from their home; without --cold "
      "they are in place when the run begins");
}

std::vector<std::string> ProblemInputs::names(const std::vector<std::string>& more) const {
  std::vector<std::string> all = {graph, machine, costs, constraints};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

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
  Result<Imported> imported = import_flags.load(graph_source, scale_by_machine_speed);
  if (!imported) return imported.error();
  if ((scale_by_machine_speed || as_recorded) && imported->format != "wfformat") {
    return invalid_input(fmt::format(
        "{}: --scale-by-machine-speed and --as-recorded are for WfFormat files, and this is {}",
        graph, imported->format));
  }
  if (as_recorded && machine != "recorded") {
    return invalid_input(
        "--as-recorded needs --machine recorded: only there are the hosts it names");
  }
  const Graph& read_graph = imported->graph;
  const bool chosen = machine_flag == nullptr || machine_flag->count() > 0;
  const bool recorded = machine == "recorded" || (!chosen && imported->devices.has_value());
  Result<Machine> loaded_machine = given      ? Result<Machine>(std::move(*given))
                                   : recorded ? recorded_machine(*imported)
                                   : read_graph.command_count() > 0 ? load_command_machine(machine)
                                                                    : load_machine(machine);
  if (!loaded_machine) return loaded_machine.error();
  Result<CostSpec> loaded_costs = load_costs(costs);
  if (!loaded_costs) return loaded_costs.error();
  CostSpec spec = std::move(*loaded_costs);
  if (noise) {
    spec.run_time_noise = {.model = NoiseSpec::Model::log_normal, .spread = *noise};
    spec.transfer_noise = spec.run_time_noise;
    spec.kind_noise.clear();
    spec.ignore_spreads = true;
  }
  const AssumedTimes assumed = assume_equal_commands(read_graph, spec);
  if (assumed.commands > 0 && !import_flags.quiet) {
    print_warning(
        fmt::format("{}: {} commands have no run time and are assumed to take {} each; give "
                    "run_time_ns in the graph, or rows with --costs",
                    graph, assumed.commands, to_text(assumed.each)));
  }
  loaded.calibration = spec.calibration;
  loaded.validation = spec.validation;
  if (const auto good = check_names(read_graph, *loaded_machine, spec, costs); !good) {
    return good.error();
  }
  const Result<Problem> unconstrained =
      Problem::make(std::move(imported->graph), std::move(*loaded_machine), spec);
  if (!unconstrained) {
    return Error{unconstrained.error().kind, graph + ": " + unconstrained.error().message};
  }
  loaded.imported = std::make_unique<Imported>(std::move(*imported));
  if (!import_flags.quiet) {
    for (const std::string& text : cost_warnings(unconstrained->costs, spec, graph, costs)) {
      print_warning(text);
    }
  }
  Constraints rules;
  if (!constraints.empty()) {
    Result<Source> source = Source::open(constraints);
    if (!source) return source.error();
    Result<Constraints> read = read_constraints(*source);
    if (!read) return read.error();
    rules = std::move(*read);
  }
  rules.cold = cold;
  if (values_are_files && rules.memory_limits.empty()) rules.memory = false;
  if (as_recorded) pin_as_recorded(*loaded.imported, unconstrained->graph, rules);
  Result<Problem> problem = unconstrained->with_constraints(rules);
  if (!problem) {
    const std::string& about = constraints.empty() ? graph : constraints;
    return Error{problem.error().kind, about + ": " + problem.error().message};
  }
  loaded.problem = std::make_unique<Problem>(std::move(*problem));
  return loaded;
}

Result<void> check_costs(const Graph& graph, const Machine& machine, const CostSpec& spec,
                         const std::string& graph_file, const std::string& costs_file) {
  if (const auto good = check_names(graph, machine, spec, costs_file); !good) return good;
  const Result<Costs> built = Costs::build(graph, machine, spec);
  if (!built) return Error{built.error().kind, graph_file + ": " + built.error().message};
  for (const std::string& text : cost_warnings(*built, spec, graph_file, costs_file)) {
    print_warning(text);
  }
  return {};
}

Result<Plan> load_good_plan(const std::string& path, const Problem& problem) {
  Result<Source> source = Source::open(path);
  if (!source) return source.error();
  return load_good_plan(*source, problem);
}

namespace {

void forget_times(Plan& plan) {
  plan.start.clear();
  plan.finish.clear();
  plan.planned_makespan.reset();
  plan.simulated = false;
  plan.passes.reset();
}

}  // namespace

Result<Plan> load_good_plan(Source& source, const Problem& problem) {
  Result<Plan> plan = read_plan(source, problem);
  if (!plan) return plan.error();
  // With other costs its own times are wrong, and only they: it can be run all the same.
  if (plan->provenance.machine_fingerprint != problem.machine.fingerprint() ||
      plan->provenance.costs_fingerprint != problem.costs.fingerprint()) {
    forget_times(*plan);
  }
  std::vector<std::string> faults = check_plan(problem, *plan, 1);
  // So with kept weights that are there from the start in the plan and not in the run, or vice
  // versa.
  if (!faults.empty() && plan->weights.stated() && !plan->start.empty()) {
    forget_times(*plan);
    faults = check_plan(problem, *plan, 1);
    if (faults.empty()) {
      print_warning(fmt::format("{}: the plan's own times are not those of a run {} --cold",
                                source.name(), problem.cold() ? "with" : "without"));
    }
  }
  if (!faults.empty()) return invalid_input(source.name() + ": " + faults[0]);
  warn_of_another_problem(source.name(), *plan, problem);
  return plan;
}

void warn_of_another_problem(const std::string& path, const Plan& plan, const Problem& problem) {
  const bool machine = plan.provenance.machine_fingerprint != problem.machine.fingerprint();
  const bool costs = plan.provenance.costs_fingerprint != problem.costs.fingerprint();
  if (!machine && !costs) return;
  print_warning(fmt::format("{}: the plan was made for {}", path,
                            machine && costs ? "another machine and other costs"
                            : machine        ? "another machine"
                                             : "other costs"));
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
  command.add_option("--seed", "Accepted by every command; this one uses no random numbers")
      ->check(whole_number());
}

Result<CostSpec> load_costs(const std::string& path) {
  if (path.empty()) return CostSpec{};
  Result<Source> source = Source::open(path);
  if (!source) return source.error();
  return read_costs(*source);
}

Result<void> write_costs(const std::string& path, const CostSpec& costs) {
  return write_file(path, path.ends_with(".json") ? costs_to_json(costs) : costs_to_toml(costs));
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
  order_flag_ =
      command.add_option("--order", order, "Order of ready ops on a device (physical model)")
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

bool shows_progress() {
  const char* terminal = std::getenv("TERM");
  const bool dumb = terminal != nullptr && std::string_view(terminal) == "dumb";
  return ::isatty(STDERR_FILENO) != 0 && !dumb;
}

}  // namespace tutti
