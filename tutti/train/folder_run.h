// Whatever learns in updates, in a folder: checkpoint.safetensors to go on from, model.safetensors
// to decide with, log.jsonl with a line for each update. Whoever is killed goes on from the last
// checkpoint, and comes to the same bytes as if nothing had happened.

#ifndef TUTTI_TRAIN_FOLDER_RUN_H_
#define TUTTI_TRAIN_FOLDER_RUN_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "tutti/base/json_writer.h"
#include "tutti/base/stop.h"
#include "tutti/base/tensor_file.h"

namespace tutti {

class Training {
 public:
  virtual ~Training() = default;
  virtual bool done() const = 0;
  virtual int64_t updates() const = 0;
  // One update; its line of the log. `seconds` tells the time since the start. None if it was
  // stopped on the way. Fails (failed) if what it learned is no number. In both cases all is as
  // before the call.
  virtual Result<std::optional<std::string>> advance(const Stop& stop,
                                                     const std::function<double()>& seconds) = 0;
  virtual TensorFile model() const = 0;
  virtual TensorFile checkpoint() const = 0;
};

struct FolderRun {
  std::string folder;
  std::string settings;  // all that the run depends on: equal texts give equal runs
  Stop stop{};
};

// Begins with `start`, or goes on from the folder's checkpoint: `make` is given either, with its
// path; twice if another run makes the folder in between. Fails (invalid_input) if the checkpoint
// is spoilt, or of other settings, naming it; (failed) if the files cannot be written, which is
// tried before anything is learned, or if an update fails. What was learned until then is kept.
using MakeTraining =
    std::function<Result<Training*>(const TensorFile& state, const std::string& path)>;
Result<void> train_in_folder(const TensorFile& start, const std::string& path, const FolderRun& run,
                             const MakeTraining& make);

std::string model_in(const std::string& folder);

// For the text of settings: what a network is, and a fingerprint of its numbers.
void add_network(JsonWriter& json, const TensorFile& file);

}  // namespace tutti

#endif  // TUTTI_TRAIN_FOLDER_RUN_H_
