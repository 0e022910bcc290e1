// tutti-train: what `tutti train` starts. Learns to place and order ops in simulation.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>

#include "tools/inputs.h"
#include "tools/search_options.h"
#include "tutti/base/json_writer.h"
#include "tutti/base/output.h"
#include "tutti/policy/doppler/model.h"
#include "tutti/train/doppler.h"

namespace tutti {
namespace {

using Clock = std::chrono::steady_clock;

struct TrainArguments {
  std::vector<std::string> graphs;
  ProblemInputs inputs;
  ModelOptions model;
  CommonOptions common;
  SearchOptions budget;
  std::string folder;
  std::string from;
  std::string config = "default";
  int64_t episodes = 20'000;
  int problems = 8;
  int samples = 8;
  int lessons = 1;
  int64_t search = 100;
  double label_weight = 1;
  double gradient_weight = 1;
  double first_rate = 1e-3;
  double last_rate = 1e-4;
  double entropy = 0;
  int most_ops = 200;
};

Result<TensorFile> load_tensors(const std::string& path) {
  Result<Source> source = Source::open(path);
  if (!source) return source.error();
  return read_tensors(*source);
}

std::string log_line(const UpdateReport& report, double seconds) {
  JsonWriter json(0);
  json.open_object().field("update", report.update).field("episodes", report.episodes);
  json.field("stage", report.stage).field("seconds", seconds);
  json.field("mean_ratio", report.mean_ratio).field("best_ratio", report.best_ratio);
  json.field("label_ratio", report.label_ratio).field("match", report.match);
  json.field("loss", report.step.loss).field("select_entropy", report.step.select_entropy);
  json.field("place_entropy", report.step.place_entropy);
  json.field("gradient_norm", report.step.gradient_norm).close_object();
  return json.text() + "\n";
}

Result<void> train(const TrainArguments& arguments) {
  std::vector<LoadedProblem> loaded;
  std::vector<std::unique_ptr<World>> owned;
  std::vector<const World*> worlds;
  for (const std::string& graph : arguments.graphs) {
    ProblemInputs inputs = arguments.inputs;
    inputs.graph = graph;
    auto problem = inputs.load();
    if (!problem) return problem.error();
    loaded.push_back(std::move(*problem));
    owned.push_back(World::of(graph, *loaded.back().problem));
    worlds.push_back(owned.back().get());
  }
  TrainSettings settings;
  settings.stages = {{.kind = StageSettings::Kind::simulate,
                      .episodes = arguments.episodes,
                      .learning_rate = {arguments.first_rate, arguments.last_rate},
                      .entropy_weight = {arguments.entropy, 0},
                      .label_weight = arguments.label_weight,
                      .gradient_weight = arguments.gradient_weight,
                      .search_evaluations = arguments.search}};
  settings.problems_per_update = arguments.problems;
  settings.episodes_per_problem = arguments.samples;
  settings.lessons_per_problem = arguments.lessons;
  settings.curriculum.most_ops = arguments.most_ops;
  settings.model = arguments.model.sim_model();
  settings.seed = arguments.common.seed;
  settings.threads = arguments.common.thread_count();

  std::filesystem::create_directories(arguments.folder);
  const std::string kept = arguments.folder + "/checkpoint.safetensors";
  const ResidualShape shape{.one_pass = arguments.config == "one-pass",
                            .estimate = settings.model == SimModel::released
                                            ? Estimate::without_contention
                                            : Estimate::with_contention};
  TensorFile start = ResidualNetwork::fresh(shape, settings.seed);
  std::string path = "a fresh network";
  if (std::filesystem::exists(kept)) {
    auto file = load_tensors(kept);
    if (!file) return file.error();
    start = std::move(*file);
    path = kept;
  } else if (!arguments.from.empty()) {
    auto file = load_tensors(arguments.from);
    if (!file) return file.error();
    start = std::move(*file);
    path = arguments.from;
  }
  auto trainer = Trainer::make(start, path, settings, worlds);
  if (!trainer) return trainer.error();
  const auto begin = Clock::now();
  const auto budget = arguments.budget.to_budget().wall_clock;
  std::ofstream log(arguments.folder + "/log.jsonl", std::ios::app);
  UpdateReport sum;
  int in_sum = 0;
  auto saved = begin;
  while (!(*trainer)->done()) {
    const UpdateReport report = (*trainer)->update();
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    log << log_line(report, seconds);
    sum.mean_ratio += report.mean_ratio;
    sum.best_ratio += report.best_ratio;
    sum.label_ratio += report.label_ratio;
    sum.match += report.match;
    ++in_sum;
    const bool out_of_time = budget && Clock::now() - begin >= *budget;
    if (report.update % 50 == 0 || out_of_time || (*trainer)->done()) {
      fmt::print(
          stderr,
          "update {} episodes {} {:.0f} s: mean {:.4f} best {:.4f} label {:.4f} match {:.3f} "
          "entropy {:.2f} {:.2f} gradient {:.2f} greedy {:.4f}\n",
          report.update, report.episodes, seconds, sum.mean_ratio / in_sum, sum.best_ratio / in_sum,
          sum.label_ratio / in_sum, sum.match / in_sum, report.step.select_entropy,
          report.step.place_entropy, report.step.gradient_norm, (*trainer)->greedy_ratio(200));
      sum = {};
      in_sum = 0;
    }
    if (out_of_time || (*trainer)->done() || Clock::now() - saved > std::chrono::seconds(20)) {
      saved = Clock::now();
      if (auto done = write_file(kept, tensors_to_bytes((*trainer)->checkpoint())); !done) {
        return done;
      }
      const std::string model = arguments.folder + "/model.safetensors";
      if (auto done = write_file(model, tensors_to_bytes((*trainer)->model())); !done) return done;
    }
    if (out_of_time) break;
  }
  return {};
}

}  // namespace
}  // namespace tutti

int main(int argc, char** argv) {
  CLI::App app{"Learns to place and order ops, in simulation.", "tutti train"};
  app.require_subcommand(1);
  auto arguments = std::make_shared<tutti::TrainArguments>();
  CLI::App& doppler = *app.add_subcommand("doppler", "SELECT and PLACE, as in Doppler");
  doppler.add_option("graphs", arguments->graphs,
                     "Graphs to learn; none: problems of the curriculum");
  arguments->inputs.add_rest_to(doppler);
  arguments->model.add_to(doppler);
  arguments->common.add_to(doppler);
  arguments->budget.add_to(doppler);
  doppler.add_option("-o,--out", arguments->folder, "Folder for checkpoint, model and log")
      ->required();
  doppler.add_option("--from", arguments->from, "A model to start from");
  doppler.add_option("--config", arguments->config, "default or one-pass");
  doppler.add_option("--episodes", arguments->episodes, "Episodes to learn from");
  doppler.add_option("--problems", arguments->problems, "Problems of an update");
  doppler.add_option("--samples", arguments->samples, "Episodes of a problem in an update");
  doppler.add_option("--lessons", arguments->lessons, "Lessons a problem's episodes make");
  doppler.add_option("--search", arguments->search, "Simulations to improve the best episode");
  doppler.add_option("--label-weight", arguments->label_weight, "Of self-labels");
  doppler.add_option("--gradient-weight", arguments->gradient_weight, "Of the policy gradient");
  doppler.add_option("--first-rate", arguments->first_rate, "Learning rate at the start");
  doppler.add_option("--last-rate", arguments->last_rate, "Learning rate at the end");
  doppler.add_option("--entropy", arguments->entropy, "Entropy weight at the start");
  doppler.add_option("--most-ops", arguments->most_ops, "Largest graph of the curriculum");
  CLI11_PARSE(app, argc, argv);
  const tutti::Result<void> done = tutti::train(*arguments);
  return done ? 0 : tutti::report(done.error());
}
