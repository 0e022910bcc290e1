// Training of the Doppler policies in simulation: rounds of episodes, a search that improves the
// best of them, and a step of the learner.
//
// Three things are learned from, alone or together. Imitation: a teacher says what is right in the
// states that the learner itself visits. Policy gradient: episodes that did better than their
// problem's others become more likely. Self-labelling: the best episode of a problem, improved by a
// short search, is imitated.
//
// Everything that an update does follows from the settings, its number and the state, so training
// that was stopped goes on as if it had not been.

#ifndef TUTTI_TRAIN_DOPPLER_H_
#define TUTTI_TRAIN_DOPPLER_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tutti/search/islands.h"
#include "tutti/train/curriculum.h"
#include "tutti/train/learner.h"

namespace tutti {

// One stage of training. Rates fall or rise evenly from the first figure to the second.
struct StageSettings {
  enum class Kind : uint8_t { imitate, simulate };
  Kind kind = Kind::simulate;
  int64_t episodes = 0;  // of all problems together
  double learning_rate[2] = {1e-3, 1e-4};
  double entropy_weight[2] = {0, 0};
  double label_weight = 1;     // of the self-labelled episode beside the policy gradient; 0: none
  double gradient_weight = 1;  // of the policy gradient; 0: self-labelling alone
  double clip_ratio = 0;       // with `repeats`: proximal policy optimisation
  int repeats = 1;             // steps on the same episodes
  int64_t search_evaluations = 100;  // spent on improving the best episode of a problem
};

struct TrainSettings {
  std::vector<StageSettings> stages{};
  int problems_per_update = 8;  // drawn from the curriculum, or all of the given ones
  int episodes_per_problem = 8;
  // A problem's episodes are learned from in that many lessons side by side; it changes rounding.
  int lessons_per_problem = 1;
  CurriculumSpec curriculum{};
  SimModel model = SimModel::physical;
  int scenarios = 1;  // that each episode is judged on; the same for all of a problem
  uint64_t seed = 1;
  int threads = 1;
};

// What an update has come to.
struct UpdateReport {
  int64_t update = 0;
  int64_t episodes = 0;  // so far
  int stage = 0;
  double mean_ratio = 0;   // makespan of a sampled episode over the reference, mean over problems
  double best_ratio = 0;   // of the best one
  double label_ratio = 0;  // of the self-label
  double match = 0;        // share of decisions in which the network's first choice was right
  StepResult step{};
};

class Trainer {
 public:
  // `worlds`: the problems to learn, or none to draw them from the curriculum. The references to
  // them must stay. Fails if the file is of no network that can be trained.
  static Result<std::unique_ptr<Trainer>> make(const TensorFile& start, const std::string& path,
                                               const TrainSettings& settings,
                                               std::vector<const World*> worlds);
  virtual ~Trainer() = default;

  virtual bool done() const = 0;
  virtual UpdateReport update() = 0;

  // How well the network does now without a draw: the greedy plan's cost over the reference, as a
  // geometric mean over that many problems that are never trained on, or over the given ones.
  virtual double greedy_ratio(int problems) const = 0;

  // The best plan met for each given problem so far, and its cost in the scenarios it was met in.
  virtual const std::vector<Candidate>& best() const = 0;

  virtual TensorFile model() const = 0;
  // All that going on needs: parameters, optimiser, progress, the best plans.
  virtual TensorFile checkpoint() const = 0;
};

}  // namespace tutti

#endif  // TUTTI_TRAIN_DOPPLER_H_
