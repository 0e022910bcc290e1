// tutti validate: many plans, simulated and really run, and how well the two agree; or, with
// --online, jobs that arrive (validate_online.h).

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "tools/commands.h"
#include "tools/inputs.h"
#include "tools/measure/validate_online.h"
#include "tools/print/table.h"
#include "tools/search_options.h"
#include "tutti/base/file/output.h"
#include "tutti/base/fingerprint.h"
#include "tutti/calibrate/measuring_runtime.h"
#include "tutti/calibrate/plans.h"
#include "tutti/calibrate/validate.h"
#include "tutti/machine/preset.h"
#include "tutti/search/planners.h"

namespace tutti {
namespace {

struct ValidateArguments {
  std::vector<std::string> graphs;
  ProblemInputs inputs;
  int plans = 200;
  std::optional<int> repeats;  // none: as many as are usual
  std::string budget;
  std::string output;
  bool update_costs = false;
  bool seen_graphs = false;
  OnlineValidation online;
  CommonOptions common;
};

Result<void> refuse_seen(const ValidateArguments& arguments, const std::string& graph_file,
                         const LoadedProblem& loaded) {
  if (arguments.seen_graphs || !loaded.calibration) return {};
  const auto& seen = loaded.calibration->graphs;
  if (std::find(seen.begin(), seen.end(), loaded.problem->graph.fingerprint()) == seen.end()) {
    return {};
  }
  return invalid_input(fmt::format(
      "{}: the costs of {} were measured on this graph, and say nothing about others if they are "
      "right here; name another graph, or --seen-graphs to validate all the same",
      graph_file, arguments.inputs.costs));
}

Result<std::vector<LoadedProblem>> load_problems(const ValidateArguments& arguments) {
  std::vector<LoadedProblem> problems;
  for (const std::string& graph : arguments.graphs) {
    ProblemInputs inputs = arguments.inputs;
    inputs.graph = graph;
    Result<LoadedProblem> loaded = inputs.load();
    if (!loaded) return loaded.error();
    if (loaded->problem->graph.size() == 0) {
      return invalid_input(graph + ": the graph has no ops to run");
    }
    if (const Result<void> fresh = refuse_seen(arguments, graph, *loaded); !fresh) {
      return fresh.error();
    }
    problems.push_back(std::move(*loaded));
  }
  return problems;
}

// What short searches find: plans that a simulator likes best are those it must be right about.
std::vector<Plan> searched_plans(const ValidateArguments& arguments, const Problem& problem,
                                 const Stop& stop) {
  std::vector<Plan> plans;
  AutoSettings settings;
  settings.seed = arguments.common.seed;
  settings.threads = arguments.common.thread_count();
  settings.budget = {.evaluations = 400, .stop = stop};
  for (const char* name : {"auto", "annealing", "lns"}) {
    const Result<PolicyEntry> entry = find_planner(name, settings);
    if (!entry) continue;
    Result<Plan> plan = make_plan(*entry, problem, settings.budget, settings.seed);
    if (plan) plans.push_back(std::move(*plan));
  }
  return plans;
}

Result<Validation> run_plans(const ValidateArguments& arguments,
                             const std::vector<LoadedProblem>& problems) {
  Stop stop = stop_on_interrupt();
  Stop planned = stop;
  if (!arguments.budget.empty()) {
    const auto budget = *parse_budget(arguments.budget);
    planned = stop.by(Stop::Clock::now() + budget / 2);  // what is planned has to be run, too
    stop = stop.by(Stop::Clock::now() + budget);
  }
  const Machine& machine = problems[0].problem->machine;
  const Result<std::unique_ptr<MeasuringRuntime>> runtime = MeasuringRuntime::open(machine, stop);
  if (!runtime) return runtime.error();
  print_note((*runtime)->note());
  const auto count = static_cast<int>(problems.size());
  std::vector<std::vector<Plan>> plans;
  std::vector<ToValidate> cases;
  for (const LoadedProblem& loaded : problems) {
    const Problem& problem = *loaded.problem;
    plans.push_back(diverse_plans(problem, searched_plans(arguments, problem, planned),
                                  (arguments.plans + count - 1) / count, arguments.common.seed,
                                  planned));
  }
  for (size_t i = 0; i < problems.size(); ++i) cases.push_back({&*problems[i].problem, plans[i]});
  ValidateOptions options{
      .repeats = arguments.repeats.value_or(3), .seed = arguments.common.seed, .stop = stop};
  if (shows_progress()) {
    options.progress = [](int64_t run, int64_t of) {
      fmt::print(stderr, "\r\033[Krun {} of {}", run + 1, of);
      std::fflush(stderr);
    };
  }
  Result<Validation> validation = validate(cases, **runtime, options);
  if (shows_progress()) fmt::print(stderr, "\r\033[K");
  tell_of_interrupt("the figures are of the runs until then");
  return validation;
}

// The summary goes into the costs file, and from there into plans made with it.
Result<void> update_costs(const std::string& path, const Validation& validation) {
  Result<CostSpec> spec = load_costs(path);
  if (!spec) return spec.error();
  spec->validation = validation.summary();
  return write_costs(path, *spec);
}

std::string percent_text(double share) {
  return fmt::format("{:.1f} %", 100 * share);
}

// Fewer plans have no order worth telling.
constexpr size_t kFewestOrdered = 4;

std::string order_text(double correlation, size_t plans) {
  return plans < kFewestOrdered ? "-" : fmt::format("{:.3f}", correlation);
}

bool tells_an_order(const Validation& validation) {
  return std::all_of(
      validation.graphs.begin(), validation.graphs.end(),
      [](const ValidatedGraph& graph) { return graph.plans.size() >= kFewestOrdered; });
}

void print_text(const Validation& validation) {
  fmt::print("{}\n", to_text(validation.summary()));
  Table graphs({"graph", "plans", "rank corr.", "better half", "runs agree", "mean error", "bias",
                "regret"});
  for (const ValidatedGraph& graph : validation.graphs) {
    graphs.add({graph.name, std::to_string(graph.plans.size()),
                order_text(graph.rank_correlation(), graph.plans.size()),
                order_text(graph.rank_correlation_better_half(), graph.plans.size() / 2),
                fmt::format("{:.3f}", graph.agreement_of_runs()), percent_text(graph.mean_error()),
                percent_text(graph.bias()), percent_text(graph.top1_regret())});
  }
  fmt::print("{}", graphs.text());
  Table residuals({"op", "on", "runs", "real/expected", "median error", "share of time"});
  for (const Residual& row : validation.residuals) {
    residuals.add({row.kind.empty() ? "transfer" : row.kind, row.where, std::to_string(row.count),
                   fmt::format("{:.3f}", row.median_ratio), percent_text(row.median_error),
                   percent_text(row.time_share)});
  }
  fmt::print("{}", residuals.text());
  Table delays({"dispatch delay on", "ops", "median", "90 %", "99 %", "99.9 %", "most"});
  for (const DispatchDelays& row : validation.delays) {
    const auto at = [&](double share) { return to_text(nanoseconds_of(row.quantile(share))); };
    delays.add(
        {row.where, std::to_string(row.ns.size()), at(0.5), at(0.9), at(0.99), at(0.999), at(1)});
  }
  fmt::print("{}", delays.text());
}

// All that will be written, before anything is run.
Result<void> check_outputs(const ValidateArguments& arguments) {
  std::vector<std::string> inputs = arguments.graphs;
  inputs.insert(inputs.end(), {arguments.inputs.machine, arguments.inputs.constraints});
  if (!arguments.update_costs) inputs.push_back(arguments.inputs.costs);
  if (Result<void> good = check_output("--output", arguments.output, inputs); !good) return good;
  if (!arguments.update_costs) return {};
  if (!arguments.output.empty() && name_one_file(arguments.output, arguments.inputs.costs)) {
    return invalid_input(fmt::format(
        "--output and --costs both name {}, which --update-costs keeps; name another output",
        arguments.output));
  }
  return probe_output(arguments.inputs.costs);
}

Result<void> run(const ValidateArguments& arguments) {
  if (arguments.update_costs && arguments.inputs.costs.empty()) {
    return invalid_input("--update-costs needs --costs, the file to update");
  }
  if (arguments.update_costs && arguments.inputs.costs == "-") {
    return invalid_input("--update-costs cannot update standard input; put the costs in a file");
  }
  const size_t plans_a_graph =
      static_cast<size_t>(arguments.plans) / std::max<size_t>(1, arguments.graphs.size());
  if (arguments.update_costs && plans_a_graph < kFewestOrdered) {
    return invalid_input(fmt::format(
        "--plans {} leaves fewer than {} plans for each graph, whose order tells nothing that "
        "costs should keep; run more, or leave out --update-costs",
        arguments.plans, kFewestOrdered));
  }
  const Result<std::vector<LoadedProblem>> problems = load_problems(arguments);
  if (!problems) return problems.error();
  if (Result<void> good = check_outputs(arguments); !good) return good;
  const Result<Validation> validation = run_plans(arguments, *problems);
  if (!validation) return validation.error();
  const std::string json = validation_to_json(*validation);
  if (!arguments.output.empty()) {
    const Result<void> written = write_file(arguments.output, json);
    if (!written) return written;
  }
  const bool updates = arguments.update_costs && tells_an_order(*validation);
  if (updates) {
    const Result<void> updated = update_costs(arguments.inputs.costs, *validation);
    if (!updated) return updated;
  } else if (arguments.update_costs) {
    fmt::print(stderr,
               "tutti: warning: {} keeps what it says: fewer than {} plans of a graph were run, "
               "whose order tells nothing\n",
               arguments.inputs.costs, kFewestOrdered);
  }
  if (arguments.output == "-") return {};
  if (arguments.common.json) {
    fmt::print("{}", json);
    return {};
  }
  print_text(*validation);
  if (!arguments.output.empty()) fmt::print("validation written to {}\n", arguments.output);
  if (updates) fmt::print("summary added to {}\n", arguments.inputs.costs);
  return {};
}

Result<void> run_online(const ValidateArguments& arguments) {
  return arguments.online.run({.graphs = arguments.graphs,
                               .machine = arguments.inputs.machine,
                               .costs = arguments.inputs.costs,
                               .budget = arguments.budget,
                               .output = arguments.output,
                               .repeats = arguments.repeats.value_or(0),
                               .seen_graphs = arguments.seen_graphs,
                               .seed = arguments.common.seed,
                               .json = arguments.common.json});
}

int run_validate(const ValidateArguments& arguments) {
  const Result<void> done = arguments.online.on ? run_online(arguments) : run(arguments);
  return done ? 0 : report(done.error());
}

}  // namespace

void add_validate_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "validate",
      "Run many plans, or arriving jobs, for real, and say how well the simulator predicted them");
  command->footer(
      "Example: tutti calibrate one.json -o costs.toml\n"
      "         tutti validate other.json --costs costs.toml -o validation.json --update-costs\n"
      "         tutti validate --online other.json third.json -m this-host:2x1 --costs costs.toml");
  auto arguments = std::make_shared<ValidateArguments>();
  command->add_option("graphs", arguments->graphs,
                      "Graphs to run plans of, or jobs; not those that the costs were measured on");
  arguments->inputs.add_rest_to(*command);
  command->add_option("--plans", arguments->plans, "Plans to run, over all graphs")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command
      ->add_option("--repeats", arguments->repeats,
                   "Runs of each plan, of which the median counts; with --online: turns; default: "
                   "3, with --online 6")
      ->check(CLI::Range(1, 1000));
  command
      ->add_option(
          "--budget", arguments->budget,
          "Time limit, such as 2m, of which at most half goes into making plans. Runs that ended "
          "by then count; with --online, complete turns do. Default: no limit")
      ->check(is_budget());
  command->add_option("-o,--output", arguments->output,
                      "Write all figures and residuals here; - is standard output");
  command->add_flag(
      "--update-costs", arguments->update_costs,
      "Write the summary into the costs file; plans made with these costs then quote it");
  command->add_flag("--seen-graphs", arguments->seen_graphs,
                    "Also accept graphs that the costs were measured on");
  arguments->online.add_to(*command);
  arguments->common.add_to(*command);
  command->callback([arguments, command, &exit_code] {
    arguments->online.check_use(*command);
    exit_code = run_validate(*arguments);
  });
}

}  // namespace tutti
