#include "tutti/train/training.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>

#include "tutti/base/file/folder_lock.h"
#include "tutti/base/file/output.h"
#include "tutti/base/fingerprint.h"
#include "tutti/train/checkpoint.h"

namespace tutti {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kSettings = "settings";
constexpr std::chrono::seconds kBetweenCheckpoints{20};

std::string model_in(const std::string& folder) {
  return folder + "/model.safetensors";
}

std::string checkpoint_in(const std::string& folder) {
  return folder + "/checkpoint.safetensors";
}

Result<void> save(const Training& training, const FolderRun& run) {
  TensorFile checkpoint = training.checkpoint();
  checkpoint.metadata[kSettings] = run.settings;
  if (auto done = write_file(model_in(run.folder), tensors_to_bytes(training.model())); !done) {
    return done;
  }
  return write_file(checkpoint_in(run.folder), tensors_to_bytes(checkpoint));
}

uint64_t fingerprint_of(const std::map<std::string, StoredTensor>& tensors) {
  Fingerprint fingerprint;
  for (const auto& [name, tensor] : tensors) {
    fingerprint.add(name);
    for (const int64_t extent : tensor.shape) fingerprint.add(extent);
    fingerprint.add(std::string_view(reinterpret_cast<const char*>(tensor.data.data()),
                                     tensor.data.size() * sizeof(float)));
  }
  return fingerprint.value();
}

bool is_there(const std::string& path) {
  std::error_code unreadable;  // then it cannot be written either, which has a sentence of its own
  return std::filesystem::exists(path, unreadable);
}

// What the folder's run has come to, or what it begins with.
Result<TensorFile> last_state(const TensorFile& start, const std::string& path,
                              const FolderRun& run) {
  const std::string kept = checkpoint_in(run.folder);
  if (!is_there(kept)) {
    if (is_there(model_in(run.folder))) {
      return invalid_input(fmt::format(
          "{}: there is a model and no checkpoint to go on from; name another folder", run.folder));
    }
    if (!start.metadata.contains(kSettings)) return start;
    return invalid_input(
        fmt::format("{}: this is a checkpoint; begin with the model.safetensors next to it", path));
  }
  Result<Source> source = Source::open(kept);
  if (!source) return source.error();
  Result<TensorFile> read = read_tensors(*source);
  if (!read) return read.error();
  const auto found = read->metadata.find(kSettings);
  if (found == read->metadata.end() || found->second != run.settings) {
    return invalid_input(
        fmt::format("{}: this run was begun with another network, other settings or problems; "
                    "repeat those, or name another folder",
                    kept));
  }
  read->metadata.erase(found);
  return read;
}

Result<std::unique_ptr<Training>> take_up(const TensorFile& start, const std::string& path,
                                          const FolderRun& run, const MakeTraining& make) {
  const std::string kept = checkpoint_in(run.folder);
  const Result<TensorFile> state = last_state(start, path, run);
  if (!state) return state.error();
  return make(*state, is_there(kept) ? kept : path);
}

// Writes what will be written, so that a run does not fail at its end.
Result<void> try_files(const Training& training, const FolderRun& run,
                       const std::string& log_path) {
  if (auto done = shorten_log(log_path, training.updates()); !done) return done;
  return save(training, run);
}

}  // namespace

void add_ramp(JsonWriter& json, const char* name, const Ramp& ramp) {
  json.key(name).open_list().value(ramp.first).value(ramp.last).close_list();
}

void add_network(JsonWriter& json, const TensorFile& file) {
  json.key("network").open_object();
  for (const auto& [key, text] : file.metadata) json.field(key, text);
  json.close_object().field("tensors", fingerprint_text(fingerprint_of(file.tensors)));
}

Result<RunEnd> train_in_folder(const TensorFile& start, const std::string& path,
                               const FolderRun& run, const MakeTraining& make) {
  const std::string log_path = run.folder + "/log.jsonl";
  // What is refused leaves no folder behind. But what counts is read under the lock: another run
  // may have been here in the meantime.
  std::optional<Result<std::unique_ptr<Training>>> made;
  if (!is_there(run.folder)) made = take_up(start, path, run, make);
  if (made && !*made) return made->error();
  const Result<FolderLock> lock = FolderLock::take(run.folder);
  if (!lock) return lock.error();
  if (!made || is_there(checkpoint_in(run.folder))) made = take_up(start, path, run, make);
  if (!*made) return made->error();
  Training& training = ***made;
  const int64_t before = training.updates();
  if (auto good = try_files(training, run, log_path); !good) return good.error();
  std::ofstream log(log_path, std::ios::app);
  const auto begin = Clock::now();
  auto saved = begin;
  const auto seconds = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  Result<void> sound;
  while (log && !training.done() && !run.stop.now()) {
    const auto line = training.advance(run.stop, seconds);
    if (!line) sound = line.error();
    if (!line || !*line) break;
    log << **line << std::flush;
    if (Clock::now() - saved < kBetweenCheckpoints) continue;
    if (auto done = save(training, run); !done) return done.error();
    saved = Clock::now();
  }
  if (auto done = save(training, run); !done) return done.error();
  if (!sound) {
    return failed(fmt::format("{}; {} is as it was before", sound.error().message,
                              checkpoint_in(run.folder)));
  }
  if (!log) return failed(fmt::format("{} could not be written", log_path));
  return RunEnd{.done = training.done(),
                .updates = training.updates() - before,
                .episodes = training.episodes(),
                .total_episodes = training.total_episodes(),
                .best_ratio = training.best_ratio(),
                .model = model_in(run.folder)};
}

}  // namespace tutti
