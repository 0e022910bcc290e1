// tutti-train: what `tutti train` starts. Learns to place and order ops, and to schedule jobs that
// arrive, in simulation.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <memory>

#include "tools/inputs.h"
#include "tools/search_options.h"
#include "tools/train/real.h"
#include "tools/train/symphony.h"
#include "tutti/policy/doppler/general.h"
#include "tutti/train/configuration.h"
#include "tutti/train/run.h"

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
  std::optional<int> problems;
  std::optional<int> samples;
  std::optional<int> lessons;
  std::optional<int> scenarios;
  std::optional<int64_t> search;
  std::optional<double> label_weight;
  std::optional<double> gradient_weight;
  std::optional<double> first_rate;
  std::optional<double> last_rate;
  std::optional<double> entropy;
  std::optional<double> clip_ratio;
  std::optional<int> repeats;
  std::optional<int> most_ops;
  std::string stage = "simulation";
  RealTraining real;
};

template <class T>
void override(const std::optional<T>& given, T& setting) {
  if (given) setting = *given;
}

// What the flags say goes before what the configuration says; of the stages, to the last.
void apply_flags(const TrainArguments& arguments, TrainSettings& settings) {
  override(arguments.problems, settings.problems_per_update);
  override(arguments.samples, settings.episodes_per_problem);
  override(arguments.lessons, settings.lessons_per_problem);
  override(arguments.scenarios, settings.scenarios);
  override(arguments.most_ops, settings.curriculum.most_ops);
  StageSettings& stage = settings.stages.back();
  override(arguments.search, stage.search_evaluations);
  override(arguments.label_weight, stage.label_weight);
  override(arguments.gradient_weight, stage.gradient_weight);
  override(arguments.first_rate, stage.learning_rate.first);
  override(arguments.last_rate, stage.learning_rate.last);
  override(arguments.entropy, stage.entropy_weight.first);
  override(arguments.clip_ratio, stage.clip_ratio);
  override(arguments.repeats, stage.repeats);
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

Result<void> check_flags(const CLI::App& command, const TrainArguments& arguments) {
  if (arguments.graphs.empty()) {
    return refuse(command,
                  {"--machine", "--costs", "--constraints", "--scale-by-machine-speed",
                   "--as-recorded", "--teacher"},
                  "is for graphs that are given, and without any problems are drawn");
  }
  return refuse(command, {"--problems", "--most-ops"},
                "is for problems that are drawn, and graphs are given");
}

// CLI::Range lets NaN through.
CLI::Validator finite_share() {
  return CLI::Validator(
      [](std::string& text) {
        double number = -1;
        const bool good = CLI::detail::lexical_cast(text, number) && number >= 0 && number <= 1e6;
        return good ? std::string() : "must be a number from 0 to 1000000";
      },
      "SHARE");
}

// A line now and then: on a terminal every second, in a pipe at each check.
class Progress {
 public:
  void show(const UpdateReport& report, double seconds) {
    mean_ += report.mean_ratio;
    best_ += report.best_ratio;
    ++count_;
    const bool due = shows_progress() && seconds - shown_ >= 1;
    if (!report.greedy_ratio && !due) return;
    shown_ = seconds;
    fmt::print(
        stderr,
        "{}stage {}, {} episodes, {:.0f} per s: mean {:.4f} of earliest finish's, best {:.4f}, "
        "label {:.4f}{}, entropy {:.2f} and {:.2f}{}{}",
        shows_progress() ? "\r\033[K" : "", report.stage + 1, report.episodes,
        static_cast<double>(report.episodes - first_.value_or(0)) / std::max(1e-3, seconds),
        mean_ / count_, best_ / count_, report.label_ratio,
        report.match ? fmt::format(", match {:.1f} %", 100 * *report.match) : "",
        report.step.select_entropy, report.step.place_entropy,
        report.greedy_ratio ? fmt::format(", greedy {:.4f}", *report.greedy_ratio) : "",
        report.greedy_ratio || !shows_progress() ? "\n" : "");
    mean_ = best_ = 0;
    count_ = 0;
  }
  void begin_at(int64_t episodes) {
    if (!first_) first_ = episodes;
  }

 private:
  double mean_ = 0;
  double best_ = 0;
  double count_ = 0;
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

// One line about where the run stands and how to go on.
void tell_the_end(const RunEnd& end) {
  const std::string how = !end.done          ? "stopped"
                          : end.updates == 0 ? "nothing was left to learn"
                                             : "done";
  const std::string next =
      end.done           ? "; to train it further, begin with it in another folder (--from)"
      : end.updates == 0 ? "; no update was finished: the same command with more time goes on"
                         : "; the same command goes on from there";
  const std::string episodes =
      end.episodes > end.total_episodes
          ? fmt::format("{} episodes, whole updates for the {} asked for", end.episodes,
                        end.total_episodes)
          : fmt::format("{} of {} episodes", end.episodes, end.total_episodes);
  fmt::print(stderr, "{}tutti: {}: {}, {}; the model is {}{}\n", shows_progress() ? "\r\033[K" : "",
             how, episodes,
             end.best_ratio ? fmt::format("its greedy plans take {:.4f} of earliest finish's time",
                                          *end.best_ratio)
                            : "no greedy plan was judged yet",
             end.model, next);
}

Result<void> train(const CLI::App& command, const TrainArguments& arguments) {
  const Budget budget = arguments.budget.to_budget();
  Stop stop = budget.stop;
  if (budget.wall_clock) stop = stop.by(Stop::Clock::now() + *budget.wall_clock);
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
    owned.push_back(TrainingProblem::of(graph, *loaded.back().problem));
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
  if (arguments.search && made->settings.stages.back().label_weight <= 0) {
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
  tell_the_end(*end);
  return {};
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
  arguments->budget.add_budget_to(doppler);
  // What the shared groups of flags have and training does not look at.
  for (const char* flag : {"--evaluations", "--json", "--order"}) {
    doppler.remove_option(doppler.get_option(flag));
  }
  doppler.get_option("--budget")
      ->description(
          "Wall clock of this call, such as 10m; the same command goes on from there. An update "
          "that is cut short, by this or by Ctrl-C, is dropped; the gradient of one lesson that "
          "has begun is waited for");
  doppler
      .add_option("-o,--out", arguments->folder,
                  "Folder for checkpoint, model and log; what is there is gone on with")
      ->required();
  doppler.add_option("--from", arguments->from,
                     "A model to begin with; \"general\" is the one that comes with tutti");
  doppler.add_option("--config", arguments->config,
                     fmt::format("{}", fmt::join(configuration_names(), ", ")));
  doppler.add_option(
      "--teacher", arguments->teacher,
      "Policy that the first stage imitates; without it: critical path with its ties");
  doppler.add_option("--imitation", arguments->imitation, "Episodes of the first stage")
      ->check(CLI::Range(int64_t{0}, int64_t{1} << 40));
  doppler.add_option("--episodes", arguments->episodes, "Episodes of the second stage")
      ->check(CLI::Range(int64_t{0}, int64_t{1} << 40));
  const auto count = CLI::Range(1, 1 << 16);
  doppler.add_option("--problems", arguments->problems, "Problems of an update")->check(count);
  doppler.add_option("--samples", arguments->samples, "Episodes of a problem in an update")
      ->check(count);
  doppler.add_option("--lessons", arguments->lessons, "Lessons that a problem's episodes make")
      ->check(count);
  doppler.add_option("--scenarios", arguments->scenarios, "Scenarios an episode is judged on")
      ->check(count);
  doppler.add_option("--search", arguments->search, "Simulations to improve a label in an update")
      ->check(CLI::Range(int64_t{0}, int64_t{1} << 40));
  const auto share = finite_share();
  doppler.add_option("--label-weight", arguments->label_weight, "Of self-labels")->check(share);
  doppler.add_option("--gradient-weight", arguments->gradient_weight, "Of the policy gradient")
      ->check(share);
  doppler.add_option("--first-rate", arguments->first_rate, "Learning rate at first")->check(share);
  doppler.add_option("--last-rate", arguments->last_rate, "Learning rate at last")->check(share);
  doppler.add_option("--entropy", arguments->entropy, "Entropy weight at first")->check(share);
  doppler.add_option("--clip-ratio", arguments->clip_ratio, "Proximal clipping; 0: none")
      ->check(share);
  doppler.add_option("--repeats", arguments->repeats, "Steps on the same episodes")->check(count);
  doppler.add_option("--most-ops", arguments->most_ops, "Largest graph that is drawn")
      ->check(CLI::Range(CurriculumSpec{}.least_ops, 1 << 20));
  doppler
      .add_option("--stage", arguments->stage,
                  "simulation: by episodes in the simulator; real: by runs on this host, of one "
                  "graph")
      ->check(CLI::IsMember({"simulation", "real"}))
      ->capture_default_str();
  doppler.add_option("--runs", arguments->real.runs, "Of --stage real: runs in all")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 40))
      ->capture_default_str();
  doppler
      .add_option("--margin", arguments->real.margin,
                  "Of --stage real: no plan is run that is predicted to take longer than the best "
                  "one's prediction by more than this share")
      ->check(share)
      ->capture_default_str();
  doppler.add_option("--calibration", arguments->real.calibration,
                     "Of --stage real: what tutti calibrate --state has measured here");
  doppler.add_flag(
      "--search-alone", arguments->real.search_alone,
      "Of --stage real: plans come from a search on the same simulator, and nothing is "
      "learned: the control");
  doppler
      .add_option("--plans", arguments->real.plans,
                  "Of --stage real: plan files that join the first race")
      ->delimiter(',');
  doppler.callback([arguments, &doppler, &exit_code] {
    const Result<void> done = train(doppler, *arguments);
    if (!done) exit_code = report(done.error());
  });
}

}  // namespace
}  // namespace tutti

int main(int argc, char** argv) {
  CLI::App app{"Learns to place and order ops, in simulation.", "tutti train"};
  app.require_subcommand(1);
  int exit_code = 0;
  tutti::add_doppler(app, exit_code);
  tutti::add_symphony(app, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // help
    std::fprintf(stderr, "tutti: %s; see --help\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tutti: %s\n", error.what());
    return 1;
  }
  return exit_code;
}
