// A training run lives in a folder: checkpoint.safetensors to go on from, model.safetensors to plan
// with, log.jsonl with a line for each update. Whoever is killed goes on from the last checkpoint,
// and comes to the same bytes as if nothing had happened.

#ifndef TUTTI_TRAIN_RUN_H_
#define TUTTI_TRAIN_RUN_H_

#include <functional>
#include <string>
#include <vector>

#include "tutti/base/stop.h"
#include "tutti/train/doppler.h"

namespace tutti {

struct RunSettings {
  std::string folder;
  Stop stop{};  // ends it after the update that is going on
  // Called after each update with the seconds since the start of this call.
  std::function<void(const UpdateReport& report, double seconds)> on_update{};
};

// Trains until it is done or stopped; `start` is the network to begin with if the folder has no
// checkpoint. Fails (invalid_input) if its checkpoint is of other settings or problems, naming it.
Result<void> train_in_folder(const TensorFile& start, const std::string& path,
                             const TrainSettings& settings,
                             const std::vector<const TrainingProblem*>& worlds,
                             const RunSettings& run);

// All that a run depends on, as text: equal texts give equal runs.
std::string settings_to_text(const TrainSettings& settings,
                             const std::vector<const TrainingProblem*>& worlds);

}  // namespace tutti

#endif  // TUTTI_TRAIN_RUN_H_
