// A run of Symphony's training in a folder, as tutti/train/folder_run.h keeps them.

#ifndef TUTTI_TRAIN_SYMPHONY_RUN_H_
#define TUTTI_TRAIN_SYMPHONY_RUN_H_

#include <functional>
#include <optional>
#include <string>

#include "tutti/train/symphony.h"

namespace tutti {

struct SymphonyRun {
  std::string folder;
  Stop stop{};
  // Called after each update with the seconds since the start of this call.
  std::function<void(const SymphonyReport& report, double seconds)> on_update{};
};

struct SymphonyEnd {
  bool done = false;
  int64_t updates = 0;  // of this call
  int64_t episodes = 0;
  std::optional<double> best_ratio{};
  std::string model;  // the file
};

// Fails as train_in_folder of tutti/train/folder_run.h and SymphonyTrainer::make do.
Result<SymphonyEnd> train_symphony(const TensorFile& start, const std::string& path,
                                   const SymphonySettings& settings, const SymphonyWorld& world,
                                   const SymphonyRun& run);

}  // namespace tutti

#endif  // TUTTI_TRAIN_SYMPHONY_RUN_H_
