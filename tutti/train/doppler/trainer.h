// Training of the Doppler policies in simulation: rounds of episodes, a search that improves the
// best of them, and a step of the learner.
//
// There are three signals, alone or together. Imitation: a teacher says what is right in the
// states that the learner itself visits. Policy gradient: episodes that did better than others of
// their problem become more likely. Self-labelling: the best plan of a problem, improved by a short
// search, is imitated.
//
// An update is a function of the settings, its number and the state, so training that was stopped
// continues as if it had not been.

#ifndef TUTTI_TRAIN_DOPPLER_TRAINER_H_
#define TUTTI_TRAIN_DOPPLER_TRAINER_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tutti/search/walk/islands.h"
#include "tutti/train/doppler/curriculum.h"
#include "tutti/train/doppler/learner.h"
#include "tutti/train/training.h"

namespace tutti {

struct StageSettings {
  enum class Kind : uint8_t { imitate, simulate };
  // What an episode's makespan is compared with.
  enum class Baseline : uint8_t {
    group,  // the other episodes of its problem in the same update, in standard deviations
    past,   // the mean of all past episodes of its problem in this stage, as published
  };

  Kind kind = Kind::simulate;
  int64_t episodes = 0;  // of all problems together
  Ramp learning_rate{1e-3, 1e-4};
  Ramp entropy_weight{};
  // Probability of any choice instead of the best; none: choices are drawn from the softmax.
  std::optional<Ramp> randomness{};
  Baseline baseline = Baseline::group;
  double discount = 1;
  double gradient_weight = 1;      // of the policy gradient; 0: none
  double label_weight = 0;         // of the self-label next to it; 0: none
  int64_t search_evaluations = 0;  // spent in an update on improving a problem's label
  double search_until = 1;         // share of the stage after which labels are left alone
  int search_walks = 1;            // that share the evaluations, side by side; the best one counts
  double clip_ratio = 0;           // with `repeats`: proximal policy optimisation
  int repeats = 1;                 // steps on the same episodes
  // What it takes over from the stage before, to measure what beginning again is worth: the past
  // makespans of its baseline, and the optimiser's moments.
  bool carries_past = false;
  bool carries_moments = false;
};

struct TrainSettings {
  std::vector<StageSettings> stages{};
  int problems_per_update = 8;  // drawn from the curriculum; given ones are all in each update
  int episodes_per_problem = 8;
  // A problem's episodes are learned from in that many lessons side by side; it changes rounding.
  int lessons_per_problem = 1;
  CurriculumSpec curriculum{};
  SimModel model = SimModel::physical;
  int scenarios = 1;      // that each episode is judged on; the same for all of a problem
  int check_every = 50;   // updates after which the greedy plan is judged, and the best model kept
  std::string teacher{};  // a policy to imitate; empty: critical path, with all its ties
  uint64_t seed = 1;
  int threads = 1;
};

// The result of an update. Ratios are to contention-aware earliest finish on the same scenarios,
// and means over the problems of which both have a plan; none if there is no such problem.
struct UpdateReport {
  int64_t update = 0;
  int64_t episodes = 0;  // so far
  int stage = 0;
  std::optional<double> mean_ratio{};   // of an episode
  std::optional<double> best_ratio{};   // of the best one
  std::optional<double> label_ratio{};  // of the label
  // Share of decisions in which the net's first choice was right; none without a teacher or
  // label.
  std::optional<double> match{};
  StepResult step{};
  std::optional<double> greedy_ratio{};  // of the greedy plan, if it was judged: geometric mean
};

// The line of the log: docs/formats/training-log.md.
std::string log_line(const UpdateReport& report, double seconds);

class Trainer : public ReportingTraining<UpdateReport> {
 public:
  // `worlds`: the problems to learn, or none to draw them from the curriculum. They must stay.
  // Fails (invalid_input) if the file is of no net that can be trained or of other problems, if
  // it is spoilt, or if a problem has no ops; (infeasible) if neither contention-aware earliest
  // finish nor the net has a plan of a given problem. A trainer that was stopped before
  // that is known, or before the teacher has a plan, is good for its checkpoint only.
  // Its model is the net whose greedy plans were the best when they were judged, its best ratio
  // theirs; its checkpoint has parameters, optimiser, progress, labels and that net.
  static Result<std::unique_ptr<Trainer>> make(const TensorFile& start, const std::string& path,
                                               const TrainSettings& settings,
                                               std::vector<const TrainingProblem*> worlds,
                                               const Stop& stop = {});
};

// Trains in a folder; `start` is the net to begin with, also if the folder has a checkpoint of
// that run already. Fails as train_in_folder of training.h and Trainer::make do.
using RunSettings = RunOf<UpdateReport>;
Result<RunEnd> train_in_folder(const TensorFile& start, const std::string& path,
                               const TrainSettings& settings,
                               const std::vector<const TrainingProblem*>& worlds,
                               const RunSettings& run);

// Everything that a run depends on, as text: equal texts give equal runs.
std::string settings_to_text(const TensorFile& start, const TrainSettings& settings,
                             const std::vector<const TrainingProblem*>& worlds);

}  // namespace tutti

#endif  // TUTTI_TRAIN_DOPPLER_TRAINER_H_
