#include "tutti/train/run.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "tutti/base/json_writer.h"
#include "tutti/base/output.h"

namespace tutti {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kSettings = "settings";
constexpr std::chrono::seconds kBetweenCheckpoints{20};

std::string log_line(const UpdateReport& report, double seconds) {
  JsonWriter json(0);
  json.open_object().field("update", report.update).field("episodes", report.episodes);
  json.field("stage", report.stage).field("seconds", seconds);
  json.field("mean_ratio", report.mean_ratio).field("best_ratio", report.best_ratio);
  json.field("label_ratio", report.label_ratio).field("match", report.match);
  json.field("loss", report.step.loss).field("select_entropy", report.step.select_entropy);
  json.field("place_entropy", report.step.place_entropy);
  json.field("gradient_norm", report.step.gradient_norm);
  if (report.greedy_ratio) json.field("greedy_ratio", *report.greedy_ratio);
  json.close_object();
  return json.text();  // ends its line itself
}

// What was logged after the last checkpoint will be logged again.
Result<void> shorten_log(const std::string& path, int64_t updates) {
  std::ifstream log(path);
  std::string kept;
  std::string line;
  for (int64_t i = 0; i < updates && std::getline(log, line); ++i) kept += line + "\n";
  return write_file(path, kept);
}

Result<void> save(const Trainer& trainer, const std::string& folder, const std::string& settings) {
  TensorFile checkpoint = trainer.checkpoint();
  checkpoint.metadata[kSettings] = settings;
  if (auto done = write_file(folder + "/model.safetensors", tensors_to_bytes(trainer.model()));
      !done) {
    return done;
  }
  return write_file(folder + "/checkpoint.safetensors", tensors_to_bytes(checkpoint));
}

void add_ramp(JsonWriter& json, const char* name, const Ramp& ramp) {
  json.key(name).open_list().value(ramp.first).value(ramp.last).close_list();
}

}  // namespace

std::string settings_to_text(const TrainSettings& settings,
                             const std::vector<const TrainingProblem*>& worlds) {
  JsonWriter json(0);
  json.open_object().key("stages").open_list();
  for (const StageSettings& stage : settings.stages) {
    json.open_object().field("kind", static_cast<int>(stage.kind));
    json.field("episodes", stage.episodes);
    add_ramp(json, "learning_rate", stage.learning_rate);
    add_ramp(json, "entropy_weight", stage.entropy_weight);
    if (stage.randomness) add_ramp(json, "randomness", *stage.randomness);
    json.field("baseline", static_cast<int>(stage.baseline)).field("discount", stage.discount);
    json.field("gradient_weight", stage.gradient_weight).field("label_weight", stage.label_weight);
    json.field("search_evaluations", stage.search_evaluations);
    json.field("search_until", stage.search_until).field("clip_ratio", stage.clip_ratio);
    json.field("repeats", stage.repeats).close_object();
  }
  json.close_list().field("problems_per_update", settings.problems_per_update);
  json.field("episodes_per_problem", settings.episodes_per_problem);
  json.field("lessons_per_problem", settings.lessons_per_problem);
  json.field("least_ops", settings.curriculum.least_ops);
  json.field("most_ops", settings.curriculum.most_ops).field("noise", settings.curriculum.noise);
  json.field("model", static_cast<int>(settings.model)).field("scenarios", settings.scenarios);
  json.field("check_every", settings.check_every).field("teacher", settings.teacher);
  json.field("seed", fmt::format("{}", settings.seed)).key("problems").open_list();
  for (const TrainingProblem* world : worlds) {
    json.value(fmt::format("{:x}-{:x}-{:x}", world->problem().graph.fingerprint(),
                           world->problem().machine.fingerprint(),
                           world->problem().costs.fingerprint()));
  }
  json.close_list().close_object();
  return json.text();
}

Result<void> train_in_folder(const TensorFile& start, const std::string& path,
                             const TrainSettings& settings,
                             const std::vector<const TrainingProblem*>& worlds,
                             const RunSettings& run) {
  std::error_code error;
  std::filesystem::create_directories(run.folder, error);
  if (error) {
    return invalid_input(
        fmt::format("the folder {} cannot be made: {}", run.folder, error.message()));
  }
  const std::string text = settings_to_text(settings, worlds);
  const std::string kept = run.folder + "/checkpoint.safetensors";
  const std::string log_path = run.folder + "/log.jsonl";
  TensorFile file = start;
  std::string origin = path;
  if (std::filesystem::exists(kept)) {
    Result<Source> source = Source::open(kept);
    if (!source) return source.error();
    Result<TensorFile> read = read_tensors(*source);
    if (!read) return read.error();
    if (const auto found = read->metadata.find(kSettings);
        found == read->metadata.end() || found->second != text) {
      return invalid_input(fmt::format(
          "{}: this run was begun with other settings or problems; repeat those, or name another "
          "folder",
          kept));
    }
    file = std::move(*read);
    origin = kept;
  }
  file.metadata.erase(kSettings);
  auto trainer = Trainer::make(file, origin, settings, worlds);
  if (!trainer) return trainer.error();
  if (auto done = shorten_log(log_path, (*trainer)->updates()); !done) return done;
  std::ofstream log(log_path, std::ios::app);
  const auto begin = Clock::now();
  auto saved = begin;
  while (!(*trainer)->done() && !run.stop.now()) {
    const UpdateReport report = (*trainer)->update();
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    log << log_line(report, seconds) << std::flush;
    if (run.on_update) run.on_update(report, seconds);
    if (Clock::now() - saved < kBetweenCheckpoints) continue;
    if (auto done = save(**trainer, run.folder, text); !done) return done;
    saved = Clock::now();
  }
  if (!log) return failed(fmt::format("{} could not be written", log_path));
  return save(**trainer, run.folder, text);
}

}  // namespace tutti
