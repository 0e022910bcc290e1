#include "tutti/train/run.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>

#include "tutti/base/fingerprint.h"
#include "tutti/base/json_writer.h"
#include "tutti/base/output.h"
#include "tutti/train/folder_lock.h"

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
  json.field("label_ratio", report.label_ratio);
  if (report.match) json.field("match", *report.match);
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

std::string model_in(const std::string& folder) {
  return folder + "/model.safetensors";
}

std::string checkpoint_in(const std::string& folder) {
  return folder + "/checkpoint.safetensors";
}

Result<void> save(const Trainer& trainer, const std::string& folder, const std::string& settings) {
  TensorFile checkpoint = trainer.checkpoint();
  checkpoint.metadata[kSettings] = settings;
  if (auto done = write_file(model_in(folder), tensors_to_bytes(trainer.model())); !done) {
    return done;
  }
  return write_file(checkpoint_in(folder), tensors_to_bytes(checkpoint));
}

void add_ramp(JsonWriter& json, const char* name, const Ramp& ramp) {
  json.key(name).open_list().value(ramp.first).value(ramp.last).close_list();
}

uint64_t fingerprint_of(const std::map<std::string, Tensor>& tensors) {
  Fingerprint fingerprint;
  for (const auto& [name, tensor] : tensors) {
    fingerprint.add(name);
    for (const int64_t extent : tensor.shape) fingerprint.add(extent);
    fingerprint.add(std::string_view(reinterpret_cast<const char*>(tensor.data.data()),
                                     tensor.data.size() * sizeof(float)));
  }
  return fingerprint.value();
}

void add_network(JsonWriter& json, const TensorFile& file) {
  json.key("network").open_object();
  for (const auto& [key, text] : file.metadata) json.field(key, text);
  json.close_object().field("tensors", fingerprint_text(fingerprint_of(file.tensors)));
}

bool is_there(const std::string& path) {
  std::error_code unreadable;  // then it cannot be written either, which has a sentence of its own
  return std::filesystem::exists(path, unreadable);
}

// What the folder's run has come to, or what it begins with.
Result<TensorFile> last_state(const TensorFile& start, const std::string& path,
                              const std::string& folder, const std::string& settings) {
  const std::string kept = checkpoint_in(folder);
  if (!is_there(kept)) {
    if (!start.metadata.contains(kSettings)) return start;
    return invalid_input(
        fmt::format("{}: this is a checkpoint; begin with the model.safetensors beside it", path));
  }
  Result<Source> source = Source::open(kept);
  if (!source) return source.error();
  Result<TensorFile> read = read_tensors(*source);
  if (!read) return read.error();
  const auto found = read->metadata.find(kSettings);
  if (found == read->metadata.end() || found->second != settings) {
    return invalid_input(
        fmt::format("{}: this run was begun with another network, other settings or problems; "
                    "repeat those, or name another folder",
                    kept));
  }
  read->metadata.erase(found);
  return read;
}

// Writes what will be written, so that a run does not fail at its end.
Result<void> try_files(const Trainer& trainer, const std::string& folder,
                       const std::string& settings, const std::string& log_path) {
  if (auto done = shorten_log(log_path, trainer.updates()); !done) return done;
  return save(trainer, folder, settings);
}

}  // namespace

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
  const std::string text = settings_to_text(start, settings, worlds);
  const std::string log_path = run.folder + "/log.jsonl";
  const bool begun = is_there(checkpoint_in(run.folder));
  const Result<TensorFile> state = last_state(start, path, run.folder, text);
  if (!state) return state.error();
  auto made =
      Trainer::make(*state, begun ? checkpoint_in(run.folder) : path, settings, worlds, run.stop);
  if (!made) return made.error();
  const Result<FolderLock> lock = FolderLock::take(run.folder);
  if (!lock) return lock.error();
  Trainer& trainer = **made;
  if (auto good = try_files(trainer, run.folder, text, log_path); !good) return good.error();
  std::ofstream log(log_path, std::ios::app);
  const int64_t before = trainer.updates();
  const auto begin = Clock::now();
  auto saved = begin;
  Result<void> sound;
  while (log && !trainer.done() && !run.stop.now()) {
    const auto report = trainer.update(run.stop);
    if (!report) sound = report.error();
    if (!report || !*report) break;
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    log << log_line(**report, seconds) << std::flush;
    if (run.on_update) run.on_update(**report, seconds);
    if (Clock::now() - saved < kBetweenCheckpoints) continue;
    if (auto done = save(trainer, run.folder, text); !done) return done.error();
    saved = Clock::now();
  }
  if (auto done = save(trainer, run.folder, text); !done) return done.error();
  if (!sound) {
    return failed(fmt::format("{}; {} is as it was before", sound.error().message,
                              checkpoint_in(run.folder)));
  }
  if (!log) return failed(fmt::format("{} could not be written", log_path));
  return RunEnd{.done = trainer.done(),
                .updates = trainer.updates() - before,
                .episodes = trainer.episodes(),
                .total_episodes = trainer.total_episodes(),
                .best_ratio = trainer.best_ratio(),
                .model = model_in(run.folder)};
}

}  // namespace tutti
