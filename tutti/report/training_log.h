// The log of a training run, as the page shows it: what `tutti train` wrote to log.jsonl, a line
// for each update. See docs/formats/training-log.md.
//
// A log may have any number of updates. What is kept of them is thinned while it is read, so that a
// page and the memory to make it stay small; what the greedy plans came to is kept whole.

#ifndef TUTTI_REPORT_TRAINING_LOG_H_
#define TUTTI_REPORT_TRAINING_LOG_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/base/file/source.h"
#include "tutti/base/result.h"

namespace tutti {

// Where in the training something happened. Time is that of training alone: a run that was stopped
// and taken up again goes on where it was.
struct TrainingTime {
  int64_t update = 0;
  int64_t episodes = 0;
  double seconds = 0;
};

// Figures are none where they were not finite, or too large to be drawn.
using Figure = std::optional<double>;

// A kept update.
struct LoggedUpdate {
  TrainingTime time{};
  Figure mean_ratio{};
  Figure best_ratio{};
  Figure label_ratio{};
  Figure match{};
  Figure loss{};
  Figure select_entropy{};
  Figure place_entropy{};
  Figure gradient_norm{};
};

struct GreedyPoint {
  TrainingTime time{};
  double ratio = 0;
};

struct StageStart {
  int stage = 0;
  TrainingTime before{};  // the last update of the stage before; zeros for the first
};

struct TrainingLog {
  std::string name;                     // where it was read from
  int64_t update_count = 0;             // in the log, kept or not
  std::vector<LoggedUpdate> updates{};  // the first, the last, and some between at even distances
  std::vector<GreedyPoint> greedy{};    // all
  std::vector<StageStart> stages{};     // at least one
  bool cut = false;                     // its last line was not whole and has been left out
};

// How many updates are kept, the last not counted.
inline constexpr size_t kMostLoggedUpdates = 2000;
// Longer logs and lines are refused.
inline constexpr size_t kMostGreedyPoints = 1'000'000;
inline constexpr size_t kLongestLogLine = size_t{1} << 16;

// True if a text that begins like this may be one: its first line has keys that no other file of
// ours has.
bool looks_like_training_log(std::string_view start);

// Fails (invalid_input) with file and line. Empty lines are passed over, and so is a last line that
// was cut in the middle; but there must be an update.
Result<TrainingLog> read_training_log(Source& source);

}  // namespace tutti

#endif  // TUTTI_REPORT_TRAINING_LOG_H_
