// A Learner changes a net so that good decisions of recorded episodes become more likely. It is
// the interface to libtorch: no other room includes that, and no decision needs it.
//
// Parameters and the optimiser's state go in and out as a TensorFile, so a checkpoint is the whole
// state. The same state, lessons and count of lessons give the same bytes with any number of
// threads.

#ifndef TUTTI_TRAIN_DOPPLER_LEARNER_H_
#define TUTTI_TRAIN_DOPPLER_LEARNER_H_

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tutti/base/file/tensor_file.h"
#include "tutti/base/stop.h"
#include "tutti/policy/doppler/episode.h"
#include "tutti/policy/doppler/model.h"

namespace tutti {

// Episodes of one problem. Each decision of an episode is made more likely in proportion to the
// episode's weight, or less likely where that is negative.
struct Lesson {
  const NetFeatures* features = nullptr;  // of the learner's net
  std::vector<const Episode*> episodes{};
  std::vector<float> weights{};  // by episode
};

struct StepOptions {
  double learning_rate = 1e-3;
  double entropy_weight = 0;  // of the mean entropy of a decision
  double clip_norm = 1;       // of the whole gradient; 0: never
  // Proximal policy optimisation (Schulman et al. 2017): decisions whose odds have changed by more
  // than this are left alone. 0: plain policy gradient.
  double clip_ratio = 0;
  double discount = 1;  // of an episode's weight, for each step that a decision is before the end
  bool learn_select = true;
  Stop stop{};  // asked before each lesson
};

struct StepResult {
  double loss = 0;            // per decision
  double select_entropy = 0;  // mean over decisions
  double place_entropy = 0;
  double gradient_norm = 0;
  bool finite = true;  // all of these, and every parameter after the step
};

class Learner {
 public:
  virtual ~Learner() = default;
  // One step of Adam (Kingma, Ba 2015) on the mean over lessons. All episodes of a lesson must be
  // of its problem, and of equal length. None, and no step, if it was stopped between two lessons;
  // no step either if loss or gradient are not finite.
  virtual std::optional<StepResult> step(std::span<const Lesson> lessons,
                                         const StepOptions& options) = 0;
  // undo() returns to the state at the last keep(); neither copies it.
  virtual void keep() = 0;
  virtual void undo() = 0;
  // Adam begins again: its moments and their count become 0. It cannot be undone.
  virtual void forget_moments() = 0;
  // Log-likelihoods of what is right: episodes x steps x 2, SELECT's and then PLACE's.
  virtual std::vector<float> log_likelihoods(const Lesson& lesson) = 0;
  // Parameters alone, which change with the next step: a model. With the optimiser's state: a
  // checkpoint.
  virtual const TensorFile& model() const = 0;
  virtual TensorFile checkpoint() const = 0;
};

// Takes a model or a checkpoint. Fails (invalid_input) if it is of no net that can be trained,
// or if the optimiser's state is none of that net.
Result<std::unique_ptr<Learner>> make_learner(const TensorFile& file, const std::string& path,
                                              int threads);

}  // namespace tutti

#endif  // TUTTI_TRAIN_DOPPLER_LEARNER_H_
