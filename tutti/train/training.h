// A Training learns in updates, as Doppler's (doppler/trainer.h) and Symphony's
// (symphony/trainer.h) do. It lives in a folder: checkpoint.safetensors to continue from,
// model.safetensors to decide with, log.jsonl with a line for each update. A run that was killed
// continues from the last checkpoint, and comes to the same bytes as an uninterrupted one.

#ifndef TUTTI_TRAIN_TRAINING_H_
#define TUTTI_TRAIN_TRAINING_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "tutti/base/file/json_writer.h"
#include "tutti/base/file/tensor_file.h"
#include "tutti/base/stop.h"

namespace tutti {

// A figure that goes evenly from its first value to its last while a stage lasts.
struct Ramp {
  double first = 0;
  double last = 0;
  double at(double share) const { return first + (last - first) * share; }
};

class Training {
 public:
  virtual ~Training() = default;
  virtual bool done() const = 0;
  virtual int64_t updates() const = 0;
  virtual int64_t episodes() const = 0;
  virtual int64_t total_episodes() const = 0;  // that were asked for
  // Of the model, relative to the reference of its reports; none before it was evaluated.
  virtual std::optional<double> best_ratio() const = 0;
  // One update; its line of the log. `seconds` tells the time since the start. None if it was
  // stopped on the way. Fails (failed) if what it learned is no number. In both cases all is as
  // before the call.
  virtual Result<std::optional<std::string>> advance(const Stop& stop,
                                                     const std::function<double()>& seconds) = 0;
  // The best model of those that were evaluated; the last one before the first evaluation.
  virtual TensorFile model() const = 0;
  // Everything needed to continue.
  virtual TensorFile checkpoint() const = 0;
};

// A training whose updates give a Report; log_line(report, seconds) makes its line of the log.
template <class Report>
class ReportingTraining : public Training {
 public:
  // Called after each update with the seconds since the start of the run.
  using OnUpdate = std::function<void(const Report& report, double seconds)>;

  // As advance, whose failures and promises it has. Requires that it is not done.
  virtual Result<std::optional<Report>> update(const Stop& stop) = 0;

  void tell(OnUpdate on_update) { on_update_ = std::move(on_update); }

  Result<std::optional<std::string>> advance(const Stop& stop,
                                             const std::function<double()>& seconds) final {
    const Result<std::optional<Report>> report = update(stop);
    if (!report) return report.error();
    if (!*report) return std::optional<std::string>();
    if (on_update_) on_update_(**report, seconds());
    return std::optional(log_line(**report, seconds()));
  }

 private:
  OnUpdate on_update_;
};

// What a run needs in addition to its settings.
template <class Report>
struct RunOf {
  std::string folder;
  Stop stop{};  // ends it; the update that is going on is dropped
  typename ReportingTraining<Report>::OnUpdate on_update{};
};

// How a call ended.
struct RunEnd {
  bool done = false;
  int64_t updates = 0;  // of this call
  int64_t episodes = 0;
  int64_t total_episodes = 0;
  std::optional<double> best_ratio{};
  std::string model;  // the file
};

struct FolderRun {
  std::string folder;
  std::string settings;  // everything the run depends on: equal texts give equal runs
  Stop stop{};
};

// Trains until it is done or stopped. Begins with `start`, or goes on from the folder's checkpoint:
// `make` is given either, with its path; twice if another run makes the folder in between. Fails
// (invalid_input) if the checkpoint is spoilt, or of other settings, naming it; (failed) if the
// files cannot be written, which is tried before anything is learned, or if an update fails. What
// was learned until then is kept.
using MakeTraining = std::function<Result<std::unique_ptr<Training>>(const TensorFile& state,
                                                                     const std::string& path)>;
Result<RunEnd> train_in_folder(const TensorFile& start, const std::string& path,
                               const FolderRun& run, const MakeTraining& make);

// For the text of settings: a net's metadata, and a fingerprint of its tensors.
void add_network(JsonWriter& json, const TensorFile& file);
void add_ramp(JsonWriter& json, const char* name, const Ramp& ramp);

}  // namespace tutti

#endif  // TUTTI_TRAIN_TRAINING_H_
