// A training run lives in a folder: checkpoint.safetensors to go on from, model.safetensors to plan
// with, log.jsonl with a line for each update. Whoever is killed goes on from the last checkpoint,
// and comes to the same bytes as if nothing had happened.

#ifndef TUTTI_TRAIN_RUN_H_
#define TUTTI_TRAIN_RUN_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tutti/base/stop.h"
#include "tutti/train/doppler.h"

namespace tutti {

struct RunSettings {
  std::string folder;
  Stop stop{};  // ends it; the update that is going on is dropped
  // Called after each update with the seconds since the start of this call.
  std::function<void(const UpdateReport& report, double seconds)> on_update{};
};

// How a call has ended.
struct RunEnd {
  bool done = false;
  int64_t updates = 0;  // of this call
  int64_t episodes = 0;
  int64_t total_episodes = 0;
  std::optional<double> best_ratio{};  // of the model's greedy plans, if they were judged
  std::string model;                   // the file
};

// Trains until it is done or stopped; `start` is the network to begin with, also if the folder has
// a checkpoint of that run already. Fails (invalid_input) if its checkpoint is spoilt, or of
// another network, other settings or problems, naming it; (failed) if the files cannot be written,
// which is tried before anything is learned, or if what is learned is no number. What was learned
// until then is kept.
Result<RunEnd> train_in_folder(const TensorFile& start, const std::string& path,
                               const TrainSettings& settings,
                               const std::vector<const TrainingProblem*>& worlds,
                               const RunSettings& run);

// All that a run depends on, as text: equal texts give equal runs.
std::string settings_to_text(const TensorFile& start, const TrainSettings& settings,
                             const std::vector<const TrainingProblem*>& worlds);

}  // namespace tutti

#endif  // TUTTI_TRAIN_RUN_H_
