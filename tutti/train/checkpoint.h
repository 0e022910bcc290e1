// What the checkpoints of all trainings share: names, numbers in the metadata, models stored under
// a prefix, and the log next to a checkpoint. A checkpoint is read as untrusted input.

#ifndef TUTTI_TRAIN_CHECKPOINT_H_
#define TUTTI_TRAIN_CHECKPOINT_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "tutti/base/file/tensor_file.h"

namespace tutti {

// Keys of the metadata, and the prefix of the best model's tensors.
inline constexpr const char* kUpdates = "updates";
inline constexpr const char* kEpisodes = "episodes";
inline constexpr const char* kBestRatio = "best_ratio";
inline constexpr std::string_view kBestModel = "best.";

// The number as text that reads back the same.
std::string exactly(double number);

// `fallback` if the metadata do not have it. Fails (invalid_input) unless it is finite and not
// negative, naming `path`.
Result<double> figure_in(const TensorFile& file, const std::string& key, double fallback,
                         const std::string& path);

// Stores the model's tensors in `file`, each under its name with the prefix.
void add_model(std::string_view prefix, const TensorFile& model, TensorFile& file);
// `like` with the tensors that `file` has under the prefix. Fails (invalid_input) if one is missing
// or of another shape.
Result<TensorFile> model_under(std::string_view prefix, TensorFile like, const TensorFile& file,
                               const std::string& path);

// True if every number of every tensor is finite.
bool is_finite(const TensorFile& file);

// Keeps the first `lines` lines of a log: those behind them were written after the last checkpoint
// and will be written again. Creates the file if there is none.
Result<void> shorten_log(const std::string& path, int64_t lines);

}  // namespace tutti

#endif  // TUTTI_TRAIN_CHECKPOINT_H_
