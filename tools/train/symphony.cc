#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/inputs.h"
#include "tools/search_options.h"
#include "tools/train/flags.h"
#include "tools/train/train.h"
#include "tutti/machine/preset.h"
#include "tutti/runtime/arriving/host_counters.h"
#include "tutti/train/symphony/configuration.h"
#include "tutti/train/symphony/trainer.h"

namespace tutti {
namespace {

struct SymphonyArguments {
  std::vector<std::string> graphs;
  std::vector<std::string> check_graphs;
  std::string machine;
  std::string costs;
  std::string counters = "all";
  CommonOptions common;
  SearchOptions budget;
  std::string folder;
  std::string from;
  std::string config = "default";
  std::string knowledge = "belief";
  SymphonyWorldSpec world;
  bool fixed_belief = false;
  bool no_counter_errors = false;
  bool no_topology = false;
  bool no_memory = false;
  bool always_work = false;
  bool no_launched = false;
  std::optional<int> belief_samples;
  Overrides<SymphonySettings> overrides;
};

// What the flags say goes before what the configuration says.
void apply_flags(const SymphonyArguments& arguments, SymphonyConfiguration& made) {
  SymphonyShape& shape = made.shape;
  shape.knowledge = *parse_information_level(arguments.knowledge);  // CLI11 has checked it
  if (arguments.belief_samples) shape.samples = *arguments.belief_samples;
  shape.topology = !arguments.no_topology;
  shape.memory = !arguments.no_memory;
  shape.no_op = !arguments.always_work;
  shape.launched = !arguments.no_launched;
  shape.counter_errors = !arguments.no_counter_errors;
  SymphonySettings& settings = made.settings;
  arguments.overrides.apply(settings);
  if (arguments.fixed_belief) settings.belief_rate = 0;
  settings.seed = arguments.common.seed;
  settings.threads = arguments.common.thread_count();
}

Result<void> check_settings(const SymphonyConfiguration& made) {
  if (made.settings.advantage == SymphonySettings::Advantage::paired &&
      made.settings.rollouts < 2) {
    return invalid_input("--rollouts must be at least 2: episodes are compared with each other");
  }
  return {};
}

// A line now and then: on a terminal every second, in a pipe at each check.
class Progress {
 public:
  void show(const SymphonyReport& report, double seconds) {
    slowdown_ += report.slowdown;
    decisions_ += report.decisions;
    ++count_;
    const bool due = shows_progress() && seconds - shown_ >= 1;
    if (!report.ratio && !due) return;
    fmt::print(
        stderr,
        "{}{} episodes, {:.0f} decisions per s: slow-down {:.3f}, doing nothing {:.1f} %, "
        "entropy {:.2f}{}{}",
        shows_progress() ? "\r\033[K" : "", report.episodes,
        static_cast<double>(decisions_) / std::max(1e-3, seconds - shown_), slowdown_ / count_,
        100 * report.rest_share, report.step.entropy,
        report.ratio ? fmt::format(", best actions {:.4f} of the rule's", *report.ratio) : "",
        report.ratio || !shows_progress() ? "\n" : "");
    shown_ = seconds;
    slowdown_ = 0;
    decisions_ = 0;
    count_ = 0;
  }

 private:
  double slowdown_ = 0;
  int64_t decisions_ = 0;
  double count_ = 0;
  double shown_ = 0;
};

Result<std::vector<Graph>> load_jobs(const std::vector<std::string>& paths, const Cluster& cluster,
                                     const std::string& costs_file) {
  std::vector<Graph> graphs;
  for (const std::string& path : paths) {
    Result<Imported> imported = load_graph(path);
    if (!imported) return imported.error();
    const auto good =
        check_costs(imported->graph, cluster.machine(), cluster.costs(), path, costs_file);
    if (!good) return good.error();
    graphs.push_back(std::move(imported->graph));
  }
  return graphs;
}

// The default cluster, or the user's own with the user's own jobs.
Result<OwnedSymphonyWorld> find_world(const SymphonyArguments& arguments) {
  if (arguments.graphs.empty()) {
    if (!arguments.machine.empty() || !arguments.costs.empty() || !arguments.check_graphs.empty()) {
      return invalid_input(
          "--machine, --costs and --check-jobs are for jobs of your own; name their graphs");
    }
    return default_symphony_world(arguments.world);
  }
  Result<Machine> machine =
      load_machine(arguments.machine.empty() ? "this-host" : arguments.machine);
  if (!machine) return machine.error();
  Result<CostSpec> costs = load_costs(arguments.costs);
  if (!costs) return costs.error();
  std::vector<Counter> counters = usual_counters(*machine);
  if (arguments.counters == "host") {
    counters = counters_for_real(*machine, *read_host(*machine, {}));
  }
  Result<Cluster> cluster = Cluster::make(std::move(*machine), std::move(*costs));
  if (!cluster) return cluster.error();
  Result<std::vector<Graph>> jobs = load_jobs(arguments.graphs, *cluster, arguments.costs);
  if (!jobs) return jobs.error();
  Result<std::vector<Graph>> checks =
      load_jobs(arguments.check_graphs.empty() ? arguments.graphs : arguments.check_graphs,
                *cluster, arguments.costs);
  if (!checks) return checks.error();
  return make_symphony_world(std::move(*cluster), std::move(*jobs), std::move(*checks),
                             std::move(counters), arguments.world);
}

Result<void> train(const SymphonyArguments& arguments) {
  const Stop stop = stop_of(arguments.budget);
  auto made = symphony_configuration(arguments.config);
  if (!made) return made.error();
  apply_flags(arguments, *made);
  if (auto good = check_settings(*made); !good) return good;
  const auto found = find_world(arguments);
  if (!found) return found.error();
  const auto& [cluster, world] = *found;
  const std::vector<Counter>& counters = world.options.counters;
  TensorFile start = SymphonyModel::fresh(made->shape, *cluster, counters, arguments.common.seed);
  std::string path = "a fresh network";
  if (!arguments.from.empty()) {
    Result<Source> source = Source::open(arguments.from);
    if (!source) return source.error();
    auto file = read_tensors(*source);
    if (!file) return file.error();
    const auto shape = load_shape(*file, arguments.from);
    if (!shape) return shape.error();
    if (file->metadata != start.metadata) {
      return invalid_input(fmt::format(
          "{}: this model is told or made of something else than the flags say; repeat those it "
          "was begun with",
          arguments.from));
    }
    start = std::move(*file);
    path = arguments.from;
  }
  SymphonyRun run{.folder = arguments.folder, .stop = stop};
  auto progress = std::make_shared<Progress>();
  run.on_update = [progress](const SymphonyReport& report, double seconds) {
    progress->show(report, seconds);
  };
  const auto end = train_symphony(start, path, made->settings, world, run);
  if (!end) return end.error();
  tell_the_end(*end, end->best_ratio
                         ? fmt::format("its slow-downs are {:.4f} of the rule's", *end->best_ratio)
                         : "its best actions were not evaluated yet");
  return {};
}

void add_learning_flags(CLI::App& command, Overrides<SymphonySettings>& overrides) {
  using Settings = SymphonySettings;
  const auto add = [&](const char* flag, auto setting, const char* about, const auto& range) {
    overrides.add(command, flag, setting, about)->check(range);
  };
  const auto count = CLI::Range(1, 1 << 16);
  const auto rate = finite_range(0, 10);
  add("--episodes", &Settings::episodes, "Episodes in all",
      CLI::Range(int64_t{1}, int64_t{1} << 40));
  add("--scenarios", &Settings::scenarios, "Scenarios of an update", count);
  add("--rollouts", &Settings::rollouts, "Episodes of each scenario", count);
  add("--passage", &Settings::passage, "Decisions that gradients go back through", count);
  add("--repeats", &Settings::repeats, "How often an update's episodes are learned from", count);
  add("--minibatches", &Settings::minibatches, "Steps of each repeat", count);
  add("--averaged-over", &Settings::averaged_over,
      "The model is the mean of the weights after about so many updates", count);
  add("--check-every", &Settings::check_every, "Updates between two evaluations", count);
  add("--checks", &Settings::checks,
      "Scenarios of an evaluation, of each load, with and without hidden load", count);
  const auto first_rate = [](Settings& settings) -> double& {
    return settings.learning_rate.first;
  };
  const auto last_rate = [](Settings& settings) -> double& { return settings.learning_rate.last; };
  const auto entropy = [](Settings& settings) -> double& { return settings.entropy_weight.first; };
  add("--first-rate", first_rate, "Learning rate at first", rate);
  add("--last-rate", last_rate, "Learning rate at last", rate);
  add("--belief-rate", &Settings::belief_rate, "Learning rate of the belief's constants", rate);
  add("--entropy", entropy, "Entropy weight at first", rate);
  add("--horizon", &Settings::horizon, "What comes later than so many critical paths counts less",
      finite_range(0.01, 1e4));
}

void add_ablation_flags(CLI::App& command, SymphonyArguments& arguments) {
  command.add_flag("--fixed-belief", arguments.fixed_belief, "The belief's constants stay");
  command.add_flag("--no-counter-errors", arguments.no_counter_errors,
                   "Readings are taken for the truth");
  command.add_flag("--no-topology", arguments.no_topology, "No messages between parts");
  command.add_flag("--no-memory", arguments.no_memory, "No LSTM from decision to decision");
  command.add_flag("--always-work", arguments.always_work, "Never does nothing if it can act");
  command.add_flag("--no-launched", arguments.no_launched,
                   "The belief is not told what was launched since");
  command.add_option("--belief-samples", arguments.belief_samples, "Samples of a belief")
      ->check(CLI::Range(1, 1 << 16));
}

// A flag that changes nothing is a mistake.
void check_use(const CLI::App& command, const SymphonyArguments& arguments) {
  if (arguments.knowledge != "belief") {
    for (const char* flag : {"--fixed-belief", "--belief-samples", "--no-counter-errors",
                             "--no-launched", "--belief-rate"}) {
      if (command.get_option(flag)->count() == 0) continue;
      throw CLI::ValidationError(flag, "is about the belief; leave it out, or --knowledge");
    }
  }
  if (arguments.graphs.empty() && command.get_option("--counters")->count() > 0) {
    throw CLI::ValidationError("--counters", "is for jobs of your own; name their graphs");
  }
}

}  // namespace

void add_symphony(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<SymphonyArguments>();
  CLI::App& command = *app.add_subcommand(
      "symphony", "Which op runs next and where while jobs arrive, as in Symphony, in simulation");
  arguments->common.add_to(command);
  add_run_flags(command, arguments->budget, arguments->folder, "");
  command.remove_option(command.get_option("--json"));
  command.add_option("--from", arguments->from, "A model to begin with");
  command.add_option("graphs", arguments->graphs,
                     "Jobs to learn from: graph files (drawn jobs on the default cluster)");
  command.add_option("--check-jobs", arguments->check_graphs,
                     "Graph files to choose the best model by (those to learn from)");
  command.add_option("-m,--machine", arguments->machine,
                     "With graphs: machine file or preset (this-host)");
  command.add_option("--costs", arguments->costs,
                     "With graphs: costs file, with [[demand]] rows for what ops share");
  command
      .add_option("--counters", arguments->counters,
                  "With graphs: all that are usual, or host: those that this host, or a run on it, "
                  "can tell, for models that decide for real")
      ->check(CLI::IsMember({"all", "host"}))
      ->capture_default_str();
  command.add_option("--config", arguments->config, symphony_configuration_names());
  command
      .add_option("--knowledge", arguments->knowledge,
                  "What it is told of resources: none, counters (the model-free rival), "
                  "counters-topology, belief, truth")
      ->check(CLI::IsMember({"none", "counters", "counters-topology", "belief", "truth"}))
      ->capture_default_str();
  command.add_option("--loads", arguments->world.loads, "Billed loads that jobs arrive at")
      ->delimiter(',')
      ->check(finite_range(0.01, 10));
  command
      .add_option(
          "--unknown-load", arguments->world.unknown_load,
          "Hidden load: share of each resource used by processes that the scheduler cannot see, in "
          "half of the episodes (0 to 1)")
      ->check(finite_range(0, 1))
      ->capture_default_str();
  command.add_option("--readings", arguments->world.readings, "Of a counter between decisions")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command.add_option("--jobs", arguments->world.jobs_per_episode, "Jobs of an episode")
      ->check(CLI::Range(1, 1 << 16))
      ->capture_default_str();
  add_learning_flags(command, arguments->overrides);
  add_ablation_flags(command, *arguments);
  command.callback([arguments, &command, &exit_code] {
    check_use(command, *arguments);
    const Result<void> done = train(*arguments);
    if (!done) exit_code = report(done.error());
  });
}

}  // namespace tutti
