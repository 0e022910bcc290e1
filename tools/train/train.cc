// What tutti-train does, and tutti-study train. Learns to place and order ops, and to schedule jobs
// that arrive, in simulation.

#include "tools/train/train.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "tools/command_line.h"
#include "tools/inputs.h"
#include "tools/search_options.h"
#include "tools/train/flags.h"
#include "tools/train/real.h"
#include "tutti/policy/doppler/general.h"
#include "tutti/train/doppler/configuration.h"
#include "tutti/train/doppler/trainer.h"
#include "tutti/train/symphony/configuration.h"

namespace tutti {
namespace {

struct TrainArguments {
  std::vector<std::string> graphs;
  ProblemInputs inputs;
  ModelOptions model;
  CommonOptions common;
  SearchOptions budget;
  std::string folder;
  std::string from;
  std::string config = "default";
  std::string teacher;
  std::optional<int64_t> imitation;
  std::optional<int64_t> episodes;
  std::optional<int> lessons;
  Overrides<TrainSettings> overrides;
  std::string stage = "simulation";
  RealTraining real;
};

// What the flags say goes before what the configuration says; of the stages, to the last.
void apply_flags(const TrainArguments& arguments, TrainSettings& settings) {
  arguments.overrides.apply(settings);
  settings.lessons_per_problem =
      arguments.lessons.value_or(usual_lessons(settings, arguments.graphs.size()));
  settings.teacher = arguments.teacher;
  settings.threads = arguments.common.thread_count();
}

// Fails (invalid_input) if one of the flags was given: `because` says why it means nothing.
Result<void> refuse(const CLI::App& command, const std::vector<const char*>& flags,
                    const char* because) {
  for (const char* flag : flags) {
    if (command.count(flag) > 0) {
      return invalid_input(fmt::format("{} {}; leave it out", flag, because));
    }
  }
  return {};
}

Result<void> check_stage_flags(const CLI::App& command, const std::string& stage) {
  if (stage == "real") {
    return refuse(command,
                  {"--model", "--teacher", "--imitation", "--episodes", "--problems", "--samples",
                   "--lessons", "--scenarios", "--search", "--most-ops", "--label-weight",
                   "--gradient-weight", "--first-rate", "--last-rate", "--entropy", "--clip-ratio",
                   "--repeats"},
                  "is for training in simulation, and the stage is real");
  }
  return refuse(command, {"--runs", "--margin", "--calibration", "--search-alone", "--plans"},
                "is for --stage real, and the stage is simulation");
}

Result<void> check_flags(const CLI::App& command, const TrainArguments& arguments) {
  if (auto good = check_stage_flags(command, arguments.stage); !good) return good;
  if (arguments.graphs.empty()) {
    return refuse(command,
                  {"--machine", "--costs", "--constraints", "--scale-by-machine-speed",
                   "--as-recorded", "--teacher"},
                  "is for graphs that are given, and without any problems are drawn");
  }
  return refuse(command, {"--problems", "--most-ops"},
                "is for problems that are drawn, and graphs are given");
}

// Of the updates since it was last told; of nothing if none of them had the figure.
class WindowMean {
 public:
  void add(const std::optional<double>& figure) {
    if (!figure) return;
    sum_ += *figure;
    count_ += 1;
  }
  std::string tell(const char* what) {
    const std::string text = count_ == 0 ? "" : fmt::format(", {} {:.4f}", what, sum_ / count_);
    *this = {};
    return text;
  }

 private:
  double sum_ = 0;
  double count_ = 0;
};

// A line now and then: on a terminal every second, in a pipe at each check.
class Progress {
 public:
  void show(const UpdateReport& report, double seconds) {
    mean_.add(report.mean_ratio);
    best_.add(report.best_ratio);
    label_.add(report.label_ratio);
    const bool due = shows_progress() && seconds - shown_ >= 1;
    if (!report.greedy_ratio && !due) return;
    shown_ = seconds;
    fmt::print(
        stderr,
        "{}stage {}, {} episodes, {:.0f} per s, to earliest finish{}{}{}, entropy {:.2f} and "
        "{:.2f}{}{}{}",
        shows_progress() ? "\r\033[K" : "", report.stage + 1, report.episodes,
        static_cast<double>(report.episodes - first_.value_or(0)) / std::max(1e-3, seconds),
        mean_.tell("mean"), best_.tell("best"), label_.tell("label"), report.step.select_entropy,
        report.step.place_entropy,
        report.match ? fmt::format(", match {:.1f} %", 100 * *report.match) : "",
        report.greedy_ratio ? fmt::format(", greedy {:.4f}", *report.greedy_ratio) : "",
        report.greedy_ratio || !shows_progress() ? "\n" : "");
  }
  void begin_at(int64_t episodes) {
    if (!first_) first_ = episodes;
  }

 private:
  WindowMean mean_;
  WindowMean best_;
  WindowMean label_;
  double shown_ = 0;
  std::optional<int64_t> first_;
};

Result<TensorFile> load_start(const std::string& from) {
  if (from == "general") {
    Source source = Source::from_text("general", std::string(general_model_bytes()));
    return read_tensors(source);
  }
  Result<Source> source = Source::open(from);
  if (!source) return source.error();
  return read_tensors(*source);
}

Result<void> train(const CLI::App& command, const TrainArguments& arguments) {
  const Stop stop = stop_of(arguments.budget);
  if (auto good = check_flags(command, arguments); !good) return good;
  std::vector<LoadedProblem> loaded;
  std::vector<std::unique_ptr<TrainingProblem>> owned;
  std::vector<const TrainingProblem*> worlds;
  for (const std::string& graph : arguments.graphs) {
    ProblemInputs inputs = arguments.inputs;
    inputs.graph = graph;
    auto problem = inputs.load();
    if (!problem) return problem.error();
    loaded.push_back(std::move(*problem));
    owned.push_back(std::make_unique<TrainingProblem>(graph, *loaded.back().problem));
    worlds.push_back(owned.back().get());
  }
  auto made = configuration({.name = arguments.config,
                             .drawn = worlds.empty(),
                             .model = arguments.model.sim_model(),
                             .seed = arguments.common.seed,
                             .imitation = arguments.imitation,
                             .episodes = arguments.episodes});
  if (!made) return made.error();
  apply_flags(arguments, made->settings);
  if (auto good = check_settings(made->settings, worlds.empty()); !good) return good;
  if (command.count("--search") > 0 && made->settings.stages.back().label_weight <= 0) {
    return invalid_input("--search is for self-labels, and there are none; give --label-weight");
  }
  std::string path = "a fresh network";
  if (!arguments.from.empty()) {
    auto file = load_start(arguments.from);
    if (!file) return file.error();
    if (auto good = check_network(*file, arguments.from, *made, arguments.config); !good) {
      return good;
    }
    made->network = std::move(*file);
    path = arguments.from;
    if (!worlds.empty() && arguments.stage == "simulation") add_marks(made->network);
  }
  if (arguments.stage == "real") {
    RealTraining real = arguments.real;
    real.graphs = arguments.graphs;
    real.inputs = arguments.inputs;
    real.folder = arguments.folder;
    real.seed = arguments.common.seed;
    real.threads = arguments.common.thread_count();
    real.stop = stop;
    return train_for_real(real, made->network, path);
  }
  RunSettings run{.folder = arguments.folder, .stop = stop};
  auto progress = std::make_shared<Progress>();
  const int64_t each =
      static_cast<int64_t>(made->settings.episodes_per_problem) *
      (worlds.empty() ? made->settings.problems_per_update : static_cast<int64_t>(worlds.size()));
  run.on_update = [progress, each](const UpdateReport& report, double seconds) {
    progress->begin_at(report.episodes - each);
    progress->show(report, seconds);
  };
  const auto end = train_in_folder(made->network, path, made->settings, worlds, run);
  if (!end) return end.error();
  tell_the_end(*end, end->best_ratio
                         ? fmt::format("its greedy plans take {:.4f} of earliest finish's time",
                                       *end->best_ratio)
                         : "no greedy plan of it was evaluated yet");
  return {};
}

// What configurations say where flags do not.
std::string usual_figures() {
  std::vector<std::pair<std::string, ConfigurationRequest>> rows = {
      {"default, graphs given", {}}, {"default, problems drawn", {.drawn = true}}};
  for (const NamedConfiguration& one : configurations()) {
    if (!one.figures.empty()) rows.push_back({one.figures, {.name = one.name}});
  }
  std::string text;
  for (const auto& [what, request] : rows) {
    const Result<Configuration> made = configuration(request);
    if (!made) continue;
    const TrainSettings& settings = made->settings;
    const StageSettings& last = settings.stages.back();
    const int64_t imitation = settings.stages.size() > 1 ? settings.stages.front().episodes : 0;
    text += fmt::format(
        "  {}: {}--samples {} --imitation {} --episodes {}\n", what,
        request.drawn ? fmt::format("--problems {} --most-ops {} ", settings.problems_per_update,
                                    settings.curriculum.most_ops)
                      : "",
        settings.episodes_per_problem, imitation, last.episodes);
    text += fmt::format(
        "    --first-rate {} --last-rate {} --entropy {} --gradient-weight {} --label-weight {} "
        "--search {}\n",
        last.learning_rate.first, last.learning_rate.last, last.entropy_weight.first,
        last.gradient_weight, last.label_weight, last.search_evaluations);
  }
  return text + fmt::format("  all: --scenarios {} --clip-ratio {} --repeats {}\n",
                            TrainSettings{}.scenarios, StageSettings{}.clip_ratio,
                            StageSettings{}.repeats);
}

// Settings of the last stage alone.
void add_last_stage(CLI::App& command, Overrides<TrainSettings>& overrides) {
  const auto add = [&](const char* flag, auto setting, const char* what, const auto& range) {
    const auto of_last = [setting](TrainSettings & settings) -> auto& {
      return std::invoke(setting, settings.stages.back());
    };
    overrides.add(command, flag, of_last, what)->check(range)->group("The last stage alone");
  };
  using Stage = StageSettings;
  const auto share = finite_range(0, 1e6);
  add("--search", &Stage::search_evaluations, "Simulations to improve a label in an update",
      CLI::Range(int64_t{0}, int64_t{1} << 40));
  add("--label-weight", &Stage::label_weight, "Of self-labels", share);
  add("--gradient-weight", &Stage::gradient_weight, "Of the policy gradient", share);
  const auto first_rate = [](Stage& stage) -> double& { return stage.learning_rate.first; };
  const auto last_rate = [](Stage& stage) -> double& { return stage.learning_rate.last; };
  const auto entropy = [](Stage& stage) -> double& { return stage.entropy_weight.first; };
  add("--first-rate", first_rate, "Learning rate at first", share);
  add("--last-rate", last_rate, "Learning rate at last", share);
  add("--entropy", entropy, "Entropy weight at first", share);
  add("--clip-ratio", &Stage::clip_ratio, "Proximal clipping; 0: none", share);
  add("--repeats", &Stage::repeats, "Steps on the same episodes", CLI::Range(1, 1 << 16));
}

void add_real_stage(CLI::App& command, TrainArguments& arguments) {
  const char* const group = "--stage real";
  command.add_option("--runs", arguments.real.runs, "Runs in all")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 40))
      ->capture_default_str()
      ->group(group);
  command
      .add_option("--margin", arguments.real.margin,
                  "No plan is run that is predicted to take longer than the best one's prediction "
                  "by more than this share")
      ->check(finite_range(0, 1e6))
      ->capture_default_str()
      ->group(group);
  command
      .add_option("--calibration", arguments.real.calibration,
                  "What tutti calibrate --state has measured here")
      ->group(group);
  command
      .add_flag(
          "--search-alone", arguments.real.search_alone,
          "Plans come from a search on the same simulator, and nothing is learned: the control")
      ->group(group);
  command.add_option("--plans", arguments.real.plans, "Plan files that join the first race")
      ->delimiter(',')
      ->group(group);
}

void add_doppler(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<TrainArguments>();
  CLI::App& doppler =
      *app.add_subcommand("doppler", "SELECT and PLACE, as in Doppler, by episodes in simulation");
  doppler.add_option("graphs", arguments->graphs,
                     "Graphs to learn; none: problems drawn from the curriculum");
  arguments->inputs.add_rest_to(doppler);
  arguments->model.add_to(doppler);
  arguments->common.add_to(doppler);
  add_run_flags(doppler, arguments->budget, arguments->folder,
                ". An update that is cut short, by this or by Ctrl-C, is dropped; the gradient of "
                "one lesson that has begun is completed");
  // Shared flags that training ignores.
  for (const char* flag : {"--json", "--order"}) doppler.remove_option(doppler.get_option(flag));
  doppler.add_option("--from", arguments->from,
                     "A model to begin with; \"general\" is the one that comes with tutti");
  doppler.add_option("--config", arguments->config, "Which network and stages, by the names below")
      ->capture_default_str();
  doppler.add_option(
      "--teacher", arguments->teacher,
      "Policy that the first stage imitates; without it: critical path with its ties");
  doppler
      .add_option("--imitation", arguments->imitation,
                  "Episodes of the first stage, which imitates")
      ->check(CLI::Range(int64_t{0}, int64_t{1} << 40));
  doppler.add_option("--episodes", arguments->episodes, "Episodes of the last stage")
      ->check(CLI::Range(int64_t{0}, int64_t{1} << 40));
  const auto count = CLI::Range(1, 1 << 16);
  Overrides<TrainSettings>& overrides = arguments->overrides;
  overrides
      .add(doppler, "--problems", &TrainSettings::problems_per_update, "Problems of an update")
      ->check(count);
  overrides
      .add(doppler, "--samples", &TrainSettings::episodes_per_problem,
           "Episodes of a problem in an update")
      ->check(count);
  doppler
      .add_option("--lessons", arguments->lessons,
                  "Lessons that a problem's episodes make, learned from side by side; without it: "
                  "4, less if there are several problems or fewer episodes")
      ->check(count);
  overrides
      .add(doppler, "--scenarios", &TrainSettings::scenarios,
           "Scenarios an episode is evaluated on")
      ->check(count);
  add_last_stage(doppler, arguments->overrides);
  overrides
      .add(
          doppler, "--most-ops",
          [](TrainSettings & settings) -> auto& { return settings.curriculum.most_ops; },
          "Largest graph that is drawn")
      ->check(CLI::Range(CurriculumSpec{}.least_ops, 1 << 20));
  doppler
      .add_option("--stage", arguments->stage,
                  "simulation: by episodes in the simulator; real: by runs on this host, of one "
                  "graph")
      ->check(CLI::IsMember({"simulation", "real"}))
      ->capture_default_str();
  add_real_stage(doppler, *arguments);
  doppler.footer(
      "Examples:\n"
      "  tutti train doppler graph.json -m p100-4 --budget 10m -o run\n"
      "  tutti plan graph.json -m p100-4 --policy doppler --network run/model.safetensors\n\n"
      "What --config can be:\n" +
      configuration_help() + "\nWithout flags:\n" + usual_figures());
  doppler.callback([arguments, &doppler, &exit_code] {
    const Result<void> done = train(doppler, *arguments);
    if (!done) exit_code = report(done.error());
  });
}

// A line each: method, name, what it is; tutti policies reads them.
void add_list(CLI::App& app) {
  app.add_subcommand("list", "List the configurations of both by name, for --config")->callback([] {
    for (const NamedConfiguration& one : configurations()) {
      fmt::print("doppler\t{}\t{}\n", one.name, one.what);
    }
    for (const SymphonyConfiguration& one : symphony_configurations()) {
      fmt::print("symphony\t{}\t{}\n", one.name, one.what);
    }
  });
}

}  // namespace

int run_train(int argc, char** argv) {
  CLI::App app{
      "Learn to place and order ops (doppler), or which op runs next and where while jobs arrive "
      "(symphony): in simulation, or doppler by runs on this host.",
      "tutti train"};
  app.footer(
      "Example: tutti train doppler graph.json -m p100-4 --budget 10m -o run\n"
      "Options of each: tutti train doppler --help");
  app.require_subcommand(1);
  int exit_code = 0;
  add_doppler(app, exit_code);
  add_symphony(app, exit_code);
  add_list(app);
  return run_program(app, argc, argv, exit_code);
}

}  // namespace tutti
