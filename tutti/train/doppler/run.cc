#include <fmt/format.h>

#include <memory>
#include <utility>

#include "tutti/base/file/json_writer.h"
#include "tutti/train/doppler/trainer.h"

namespace tutti {
namespace {

// null if there is none.
void add_figure(JsonWriter& json, const char* name, const std::optional<double>& figure) {
  json.key(name);
  if (figure) {
    json.value(*figure);
  } else {
    json.null();
  }
}

}  // namespace

std::string log_line(const UpdateReport& report, double seconds) {
  JsonWriter json(0);
  json.open_object().field("update", report.update).field("episodes", report.episodes);
  json.field("stage", report.stage).field("seconds", seconds);
  add_figure(json, "mean_ratio", report.mean_ratio);
  add_figure(json, "best_ratio", report.best_ratio);
  if (report.label_ratio) json.field("label_ratio", *report.label_ratio);
  if (report.match) json.field("match", *report.match);
  json.field("loss", report.step.loss).field("select_entropy", report.step.select_entropy);
  json.field("place_entropy", report.step.place_entropy);
  json.field("gradient_norm", report.step.gradient_norm);
  if (report.greedy_ratio) json.field("greedy_ratio", *report.greedy_ratio);
  json.close_object();
  return json.text();  // ends its line itself
}

std::string settings_to_text(const TensorFile& start, const TrainSettings& settings,
                             const std::vector<const TrainingProblem*>& worlds) {
  JsonWriter json(0);
  json.open_object();
  add_network(json, start);
  json.key("stages").open_list();
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
    if (stage.search_walks > 1) json.field("search_walks", stage.search_walks);
    json.field("repeats", stage.repeats).field("carries_past", stage.carries_past);
    json.field("carries_moments", stage.carries_moments).close_object();
  }
  json.close_list().field("problems_per_update", settings.problems_per_update);
  json.field("episodes_per_problem", settings.episodes_per_problem);
  json.field("lessons_per_problem", settings.lessons_per_problem);
  json.field("least_ops", settings.curriculum.least_ops);
  json.field("most_ops", settings.curriculum.most_ops).field("noise", settings.curriculum.noise);
  json.field("model", settings.model.number()).field("scenarios", settings.scenarios);
  json.field("check_every", settings.check_every).field("teacher", settings.teacher);
  json.field("seed", fmt::format("{}", settings.seed)).key("problems").open_list();
  for (const TrainingProblem* world : worlds) {
    const Problem& problem = world->problem();
    json.value(fmt::format("{:x}-{:x}-{:x}-{:x}", problem.graph.fingerprint(),
                           problem.machine.fingerprint(), problem.costs.fingerprint(),
                           problem.constraints_fingerprint()));
  }
  json.close_list().close_object();
  return json.text();
}

Result<RunEnd> train_in_folder(const TensorFile& start, const std::string& path,
                               const TrainSettings& settings,
                               const std::vector<const TrainingProblem*>& worlds,
                               const RunSettings& run) {
  const FolderRun folder_run{.folder = run.folder,
                             .settings = settings_to_text(start, settings, worlds),
                             .stop = run.stop};
  return train_in_folder(
      start, path, folder_run,
      [&](const TensorFile& state, const std::string& from) -> Result<std::unique_ptr<Training>> {
        auto trainer = Trainer::make(state, from, settings, worlds, run.stop);
        if (!trainer) return trainer.error();
        (*trainer)->tell(run.on_update);
        return std::unique_ptr<Training>(std::move(*trainer));
      });
}

}  // namespace tutti
