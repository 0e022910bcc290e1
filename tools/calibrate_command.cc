// tutti calibrate: measure this machine, or learn from traces, and write costs to plan with.

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>

#include "tools/commands.h"
#include "tools/inputs.h"
#include "tools/print/table.h"
#include "tools/search_options.h"
#include "tutti/base/file/folder_lock.h"
#include "tutti/base/file/json_writer.h"
#include "tutti/base/file/output.h"
#include "tutti/calibrate/calibrate.h"
#include "tutti/calibrate/measuring_runtime.h"
#include "tutti/calibrate/state_file.h"
#include "tutti/calibrate/tune.h"
#include "tutti/machine/file.h"
#include "tutti/machine/preset.h"
#include "tutti/trace/file.h"

namespace tutti {
namespace {

constexpr int kWholeGraphs = 4;     // random placements of each graph that are run
constexpr double kForPlans = 0.35;  // of the budget
constexpr std::chrono::seconds kBetweenSaves{2};

struct CalibrateArguments {
  std::vector<std::string> graphs;
  std::string machine = "this-host";
  std::string output;
  std::string machine_output;
  std::string state;
  std::vector<std::string> traces;
  std::string sizes = "kinds";
  std::string budget = "20s";
  std::optional<int64_t> runs;
  int plans = 12;
  CommonOptions common;
};

using Graphs = std::vector<std::unique_ptr<Imported>>;

Result<Graphs> load_graphs(const std::vector<std::string>& paths) {
  Graphs graphs;
  for (const std::string& path : paths) {
    Result<Imported> imported = load_graph(path);
    if (!imported) return imported.error();
    if (imported->graph.size() == 0) {
      return invalid_input(path + ": the graph has no ops to measure");
    }
    graphs.push_back(std::make_unique<Imported>(std::move(*imported)));
  }
  return graphs;
}

// The state that an earlier call left there, or an empty one.
Result<CalibrationState> load_state(const std::string& path, const Machine& machine) {
  CalibrationState state{.machine_fingerprint = machine.fingerprint()};
  if (path.empty()) return state;
  if (path == "-") {
    return invalid_input(
        "--state needs the name of a file: a state is read and replaced, and - can only be "
        "written");
  }
  if (const Result<void> probe = probe_output(path); !probe) return probe.error();
  if (!std::filesystem::exists(path)) return state;
  return load_calibration(path, machine);
}

// Saves the state every few seconds, so that little is lost if the process is killed.
class StateKeeper {
 public:
  explicit StateKeeper(std::string path) : path_(std::move(path)) {}

  Result<void> save_if_due(const CalibrationState& state) {
    if (path_.empty() || Stop::Clock::now() - saved_ < kBetweenSaves) return {};
    return save(state);
  }
  Result<void> save(const CalibrationState& state) {
    if (path_.empty()) return {};
    Result<void> written = write_file(path_, calibration_to_json(state));
    saved_ = Stop::Clock::now();
    return written;
  }

 private:
  std::string path_;
  Stop::Clock::time_point saved_ = Stop::Clock::now();
};

// The trace is of one of the graphs; which, its fingerprint says.
Result<void> learn_from(const std::string& path, const Graphs& graphs, const Machine& machine,
                        Knowledge& knowledge) {
  const CanRun everything = [](std::string_view, std::string_view) { return true; };
  Error last = invalid_input(path + ": a trace says nothing without its graph; give the graph too");
  for (const auto& imported : graphs) {
    const Graph& graph = imported->graph;
    const Result<Problem> problem =
        Problem::make(Shared<Graph>::borrowed(graph), Shared<Machine>::borrowed(machine),
                      unit_costs(graph, machine, everything));
    if (!problem) return problem.error();
    Result<Source> source = Source::open(path);
    if (!source) return source.error();
    const Result<Trace> trace = read_trace(*source, *problem);
    if (!trace) {
      last = trace.error();
      continue;
    }
    if (trace->machine_fingerprint != machine.fingerprint()) {
      return invalid_input(
          fmt::format("{}: the run was on another machine than '{}'; name the "
                      "right one with --machine",
                      path, machine.name()));
    }
    if (is_released(*trace) || is_null(*trace)) {
      return invalid_input(fmt::format(
          "{}: nothing can be learned from a run of '{}', which has no times of its own", path,
          to_text(trace->runtime)));
    }
    if (trace->runtime.barriers) {
      return invalid_input(
          path +
          ": in a run with barriers ops wait for each other, and that would be learned as "
          "their time; record one without --bulk-synchronous");
    }
    if (!is_measured(*trace)) {
      print_warning(fmt::format("{} is simulated: it tells what the simulator was told", path));
    }
    knowledge.learn(*problem, *trace, path);
    knowledge.note_graph(graph);
    return {};
  }
  return last;
}

Result<std::vector<Experiment>> experiments_of(const CalibrateArguments& arguments,
                                               const Machine& machine, const Graphs& graphs,
                                               const CanRun& can_run) {
  std::vector<const Graph*> sources;
  for (const auto& imported : graphs) sources.push_back(&imported->graph);
  const Graph usual = usual_sizes();
  std::vector<std::string> kinds;  // none: all
  for (const Graph* graph : sources) {
    kinds.insert(kinds.end(), graph->op_kinds().begin(), graph->op_kinds().end());
  }
  if (arguments.sizes == "all") kinds.clear();
  if (arguments.sizes != "none") sources.push_back(&usual);
  std::vector<Experiment> experiments = op_probes(machine, sources, can_run, kinds);
  for (Experiment& probe : route_probes(machine, can_run)) experiments.push_back(std::move(probe));
  for (const auto& imported : graphs) {
    if (arguments.plans > 0) break;  // whole plans tell more
    Result<std::vector<Experiment>> whole =
        whole_graphs(machine, imported->graph, kWholeGraphs, arguments.common.seed, can_run);
    if (!whole) return whole.error();
    for (Experiment& one : *whole) experiments.push_back(std::move(one));
  }
  if (experiments.empty()) {
    return invalid_input("there is nothing to measure: name a graph, or leave out --sizes none");
  }
  return experiments;
}

void show_progress(int64_t run, size_t experiments, const Experiment& experiment) {
  if (!shows_progress()) return;
  const auto count = static_cast<int64_t>(experiments);
  const int64_t turn = run / CalibrateOptions{}.in_a_row;
  fmt::print(stderr, "\r\033[Kround {}, {} of {}: {}", turn / count + 1, turn % count + 1, count,
             experiment.what);
  std::fflush(stderr);
}

// Whole plans, after all else.
Result<void> run_plans(const CalibrateArguments& arguments, const Machine& machine,
                       const Graphs& graphs, MeasuringRuntime& runtime, const Stop& stop,
                       Knowledge& knowledge) {
  std::vector<const Graph*> sources;
  for (const auto& imported : graphs) sources.push_back(&imported->graph);
  TuneOptions options{.plans = arguments.plans, .seed = arguments.common.seed, .stop = stop};
  options.progress = [&](int64_t run, int64_t of) {
    if (!shows_progress()) return;
    fmt::print(stderr, "\r\033[Kplans: run {} of {}", run + 1, of);
    std::fflush(stderr);
  };
  const Result<Tuned> tuned = tune(machine, sources, runtime, knowledge, options);
  if (shows_progress()) fmt::print(stderr, "\r\033[K");
  if (!tuned) return tuned.error();
  if (tuned->plans == 0) {
    fmt::print(stderr,
               "tutti: no plan was run as a whole before the time was up; give a longer "
               "--budget\n");
    return {};
  }
  std::string scales = fmt::format("transfers {:.2f}, their latency {:.2f}",
                                   knowledge.scales().transfers, knowledge.scales().latency);
  for (const auto& [kind, scale] : knowledge.scales().devices) {
    scales += fmt::format(", ops on {} {:.2f}", kind, scale);
  }
  fmt::print(stderr,
             "tutti: {} plans were run as a whole; mean error {:.1f} %, and {:.1f} % with these "
             "factors: {}\n",
             tuned->plans, 100 * tuned->error_before, 100 * tuned->error_after, scales);
  return {};
}

Result<void> measure(const CalibrateArguments& arguments, const Machine& machine,
                     const Graphs& graphs, StateKeeper& keeper, CalibrationState& state) {
  Stop stop = stop_on_interrupt();
  Stop before_plans = stop;
  const bool has_plans = !graphs.empty() && arguments.plans > 0;
  if (!arguments.runs) {
    const auto begin = Stop::Clock::now();
    const auto budget = *parse_budget(arguments.budget);
    stop = stop.by(begin + budget);
    before_plans = stop;
    if (has_plans) {
      before_plans = stop.by(
          begin + std::chrono::duration_cast<Stop::Clock::duration>(budget * (1 - kForPlans)));
    }
  }
  const Result<std::unique_ptr<MeasuringRuntime>> runtime = MeasuringRuntime::open(machine, stop);
  if (!runtime) return runtime.error();
  print_note((*runtime)->note());
  const CanRun can_run = (*runtime)->can_run();
  const Result<std::vector<Experiment>> experiments =
      experiments_of(arguments, machine, graphs, can_run);
  if (!experiments) return experiments.error();
  std::vector<const Graph*> sources;
  for (const auto& imported : graphs) sources.push_back(&imported->graph);
  for (const std::string& what : unmeasured_ops(machine, sources, can_run)) {
    print_warning("not measured: " + what);
  }
  const uint64_t print = experiments_fingerprint(*experiments);
  if (state.experiments_fingerprint != print) state.runs = 0;
  state.experiments_fingerprint = print;
  for (const auto& imported : graphs) state.knowledge.note_graph(imported->graph);
  CalibrateOptions options{.begin = state.runs,
                           .runs = arguments.runs ? state.runs + *arguments.runs : 0,
                           .seed = arguments.common.seed,
                           .stop = before_plans};
  options.when = fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(std::time(nullptr)));
  options.progress = [&](int64_t run, const Experiment& experiment) {
    show_progress(run, experiments->size(), experiment);
  };
  options.keep = [&](int64_t runs) {
    state.runs = runs;
    return keeper.save_if_due(state);
  };
  const Result<Calibrated> done =
      calibrate(machine, *experiments, can_run, **runtime, state.knowledge, options);
  if (shows_progress()) fmt::print(stderr, "\r\033[K");
  if (!done) return done.error();
  for (const std::string& failure : done->failures) {
    print_warning("left out " + failure);
  }
  const auto count = static_cast<int64_t>(experiments->size());
  if (done->runs < int64_t{2} * options.in_a_row * count) {
    fmt::print(stderr,
               "tutti: warning: runs: {}; the {} experiments need {} each at the least; give a "
               "longer --budget, or go on with --state\n",
               done->runs, count, 2 * options.in_a_row);
  }
  state.runs = done->runs;
  if (!has_plans || state.knowledge.empty()) return {};
  // Plans change the factors alone, in the end: until then this is all there is.
  if (Result<void> saved = keeper.save(state); !saved) return saved;
  return run_plans(arguments, machine, graphs, **runtime, stop, state.knowledge);
}

Result<void> save(const CalibrateArguments& arguments, const Machine& machine, StateKeeper& keeper,
                  const CalibrationState& state, const CostSpec& costs) {
  if (Result<void> kept = keeper.save(state); !kept) return kept;
  if (!arguments.machine_output.empty()) {
    const Result<Machine> measured = Machine::build(state.knowledge.machine(machine));
    if (!measured) return measured.error();
    const bool json = arguments.machine_output.ends_with(".json");
    Result<void> written = write_file(
        arguments.machine_output, json ? machine_to_json(*measured) : machine_to_toml(*measured));
    if (!written) return written;
  }
  return write_costs(arguments.output, costs);
}

// All points of one kind on one kind of device, summed up.
struct KindRow {
  std::vector<MeasuredPoint> points;
  double spread() const {
    double sum = 0;
    for (const MeasuredPoint& point : points) sum += point.spread;
    return sum / static_cast<double>(points.size());
  }
};

std::map<std::pair<std::string, std::string>, KindRow> rows_of(const CostSpec& costs) {
  std::map<std::pair<std::string, std::string>, KindRow> rows;
  for (const CostSpec::RunTime& row : costs.run_times) {
    auto& points = rows[{row.kind, row.device_kind}].points;
    points.insert(points.end(), row.points.begin(), row.points.end());
  }
  return rows;
}

void print_text(const CalibrateArguments& arguments, const CalibrationState& state,
                const CostSpec& costs) {
  int64_t samples = 0;
  int64_t outliers = 0;
  for (const auto& [key, posterior] : state.knowledge.cells()) {
    samples += posterior.count();
    outliers += posterior.outliers();
  }
  fmt::print("measured: runs {}, samples {} (far from the rest: {}), sizes {}\n",
             state.knowledge.runs(), samples, outliers, state.knowledge.cells().size());
  Table table({"op", "on", "sizes", "overhead", "Gflop/s", "GB/s", "spread"});
  for (const auto& [key, row] : rows_of(costs)) {
    const WorkLaw law = WorkLaw::fit(row.points);
    const auto rate = [](double ns) { return ns > 0 ? fmt::format("{:.3g}", 1 / ns) : "-"; };
    table.add({key.first, key.second, std::to_string(row.points.size()),
               to_text(nanoseconds_of(law.overhead_ns)), rate(law.ns_per_flop),
               rate(law.ns_per_byte), fmt::format("{:.1f} %", 100 * row.spread())});
  }
  fmt::print("{}", table.text());
  for (const Drift& drift : state.knowledge.drifts()) fmt::print("  {}\n", to_text(drift));
  fmt::print("costs written to {}\n", arguments.output);
  if (!arguments.machine_output.empty()) {
    fmt::print("machine written to {}\n", arguments.machine_output);
  }
}

void print_json(const Machine& machine, const CalibrationState& state, const CostSpec& costs) {
  JsonWriter json;
  json.open_object().field("schema_version", 1).field("machine", machine.name());
  json.field("runs", state.knowledge.runs()).key("kinds").open_list();
  for (const auto& [key, row] : rows_of(costs)) {
    const WorkLaw law = WorkLaw::fit(row.points);
    json.open_object().field("kind", key.first).field("device_kind", key.second);
    json.field("sizes", static_cast<int64_t>(row.points.size()));
    json.field("overhead_ns", law.overhead_ns).field("ns_per_flop", law.ns_per_flop);
    json.field("ns_per_byte", law.ns_per_byte).field("spread", row.spread()).close_object();
  }
  json.close_list().key("drift").open_list();
  for (const Drift& drift : state.knowledge.drifts()) json.value(to_text(drift));
  json.close_list().close_object();
  fmt::print("{}", json.text());
}

// All that will be written, before anything is measured.
Result<void> check_outputs(const CalibrateArguments& arguments) {
  const std::pair<const char*, const std::string*> outputs[] = {
      {"--output", &arguments.output},
      {"--machine-output", &arguments.machine_output},
      {"--state", &arguments.state}};
  std::vector<std::string> inputs = arguments.graphs;
  inputs.insert(inputs.end(), arguments.traces.begin(), arguments.traces.end());
  inputs.push_back(arguments.machine);
  for (const auto* one = std::begin(outputs); one != std::end(outputs); ++one) {
    if (one->second->empty()) continue;
    for (const auto* other = std::begin(outputs); other != one; ++other) {
      if (other->second->empty() || !name_one_file(*one->second, *other->second)) continue;
      return invalid_input(fmt::format("{} and {} both name {}; give each a file of its own",
                                       other->first, one->first, *one->second));
    }
    if (Result<void> good = check_output(one->first, *one->second, inputs); !good) return good;
  }
  return {};
}

Result<void> run(const CalibrateArguments& arguments) {
  if (Result<void> good = check_outputs(arguments); !good) return good;
  Result<Graphs> graphs = load_graphs(arguments.graphs);
  if (!graphs) return graphs.error();
  const Result<Machine> machine = load_machine(arguments.machine);
  if (!machine) return machine.error();
  std::optional<FileLock> lock;  // from before the state is read until it is replaced
  if (!arguments.state.empty() && arguments.state != "-") {
    Result<FileLock> taken = FileLock::take(arguments.state);
    if (!taken) return taken.error();
    lock.emplace(std::move(*taken));
  }
  Result<CalibrationState> state = load_state(arguments.state, *machine);
  if (!state) return state.error();
  StateKeeper keeper(arguments.state);
  for (const std::string& trace : arguments.traces) {
    Result<void> learned = learn_from(trace, *graphs, *machine, state->knowledge);
    if (!learned) return learned;
  }
  if (arguments.traces.empty()) {
    Result<void> measured = measure(arguments, *machine, *graphs, keeper, *state);
    if (!measured) return measured;
  }
  tell_of_interrupt("what was measured until then is kept");
  if (state->knowledge.empty()) return failed("nothing was measured before the time was up");
  const CostSpec costs = state->knowledge.costs(*machine);
  Result<void> saved = save(arguments, *machine, keeper, *state, costs);
  if (!saved || arguments.output == "-") return saved;
  arguments.common.json ? print_json(*machine, *state, costs)
                        : print_text(arguments, *state, costs);
  return {};
}

int run_calibrate(const CalibrateArguments& arguments) {
  const Result<void> done = run(arguments);
  return done ? 0 : report(done.error());
}

}  // namespace

void add_calibrate_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "calibrate", "Measure how long ops and transfers take on this machine, and write costs");
  command->footer(
      "Example: tutti calibrate graph.json -o costs.toml --budget 20s\n"
      "         tutti plan other.json --costs costs.toml");
  auto arguments = std::make_shared<CalibrateArguments>();
  command->add_option("graphs", arguments->graphs,
                      "Graphs whose ops are measured, alone and in runs of the whole graph");
  command->add_option("-m,--machine", arguments->machine, "Machine, as for tutti plan")
      ->capture_default_str();
  command
      ->add_option("-o,--output", arguments->output,
                   "Write the costs here, as TOML, or as JSON if it ends in .json")
      ->required();
  command->add_option("--machine-output", arguments->machine_output,
                      "Write the machine with measured links and overheads here");
  command->add_option("--state", arguments->state,
                      "Save everything measured in this file, and continue from it if it exists");
  auto* traces =
      command->add_option("--from-trace", arguments->traces,
                          "Run nothing, and learn from these traces of the graphs on this machine");
  auto* budget = command->add_option("--budget", arguments->budget, "Wall clock for measuring")
                     ->check(is_budget())
                     ->capture_default_str();
  command
      ->add_option("--runs", arguments->runs,
                   "Runs of probes, before the plans, instead of a wall clock")
      ->check(CLI::Range(int64_t{1}, int64_t{1'000'000'000}))
      ->excludes(budget)
      ->excludes(traces);
  budget->excludes(traces);
  command
      ->add_option("--plans", arguments->plans,
                   "Plans of each graph that are run in the end, to fit what ops do to each other")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str()
      ->excludes(traces);
  command
      ->add_option(
          "--sizes", arguments->sizes,
          "kinds: several sizes of every kind in the graphs (all without graphs); all: of every "
          "kind that tutti has code for; none: only the ops of the graphs")
      ->check(CLI::IsMember({"kinds", "all", "none"}))
      ->capture_default_str();
  arguments->common.add_to(*command);
  command->callback([arguments, &exit_code] { exit_code = run_calibrate(*arguments); });
}

}  // namespace tutti
