// Training of Symphony's policy in simulated clusters: rounds of episodes, then steps of the
// learner on what they were worth.
//
// The advantage of a decision is computed in one of two ways. By a critic, as published: the
// rewards of the next decisions plus the critic's value of the state they led to, minus its value
// of the state they began in. Or paired: several episodes of one scenario, with the same arrivals
// and noise; the return of a decision, minus the mean return from that time on of the others (an
// input-dependent baseline: Mao et al., Variance Reduction for Reinforcement Learning in
// Input-Driven Environments, ICLR 2019).
//
// An update is a function of the settings, its number and the state, so training that was stopped
// continues as if it had not been.

#ifndef TUTTI_TRAIN_SYMPHONY_TRAINER_H_
#define TUTTI_TRAIN_SYMPHONY_TRAINER_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "tutti/train/symphony/world.h"
#include "tutti/train/training.h"

namespace tutti {

struct SymphonySettings {
  enum class Advantage : uint8_t { critic, paired };

  Advantage advantage = Advantage::paired;
  int64_t episodes = 0;  // of all updates
  int scenarios = 4;     // of an update
  int rollouts = 6;      // episodes of each scenario; paired wants at least two
  PlaySettings play{};
  double horizon = 4;        // paired: what comes later counts less; in mean critical paths
  double value_scale = 0.1;  // rewards are multiplied by it before the critic sees them
  int passage = 24;          // decisions that gradients flow back through
  int repeats = 1;           // how often an update's episodes are learned from
  int minibatches = 24;      // steps of each time, on so many parts of the episodes
  Ramp learning_rate{5e-3, 2e-4};
  Ramp entropy_weight{0.002, 0.001};
  double value_weight = 0.01;  // paired: the critic is not used
  double clip_norm = 1;
  double clip_ratio = 0.2;
  double belief_rate = 0.002;  // learning rate of the belief's constants; 0: they stay
  GradientKind belief_gradient = GradientKind::path;
  int belief_stride = 4;  // see SymphonyStepOptions
  // The model is the mean of the weights after about so many updates, the latest counting most:
  // each update moves weights this way and that by what its few scenarios happened to be, and
  // decisions with them (Polyak, Juditsky, SIAM J. Control Optim. 1992). 1: the weights as they
  // are.
  int averaged_over = 6;
  int check_every = 20;  // updates after which the best actions are judged, and the best model kept
  int checks = 6;  // scenarios that they are judged on, of each load, with and without tenants
  uint64_t seed = 1;
  int threads = 1;
};

// The result of an update. Slow-downs are means over jobs of completion time over critical path.
struct SymphonyReport {
  int64_t update = 0;
  int64_t episodes = 0;   // so far
  int64_t decisions = 0;  // of this update
  double slowdown = 0;    // of this update's episodes
  double rest_share = 0;  // of decisions
  SymphonyStepResult step{};
  // If they were judged: the best actions' slow-down over that of the untrained rule that sees no
  // counters, on the same scenarios; geometric mean.
  std::optional<double> ratio{};
};

// The line of the log: docs/formats/training-log.md.
std::string log_line(const SymphonyReport& report, double seconds);

class SymphonyTrainer : public ReportingTraining<SymphonyReport> {
 public:
  // The world must outlive it. Its model is the averaged net whose best actions did best when
  // they were judged; the last before that. Fails (invalid_input) if the file is of another net
  // or machine, or spoilt.
  static Result<std::unique_ptr<SymphonyTrainer>> make(const TensorFile& start,
                                                       const std::string& path,
                                                       const SymphonySettings& settings,
                                                       const SymphonyWorld& world);
};

// Trains in a folder. Fails as train_in_folder of training.h and SymphonyTrainer::make do.
using SymphonyRun = RunOf<SymphonyReport>;
Result<RunEnd> train_symphony(const TensorFile& start, const std::string& path,
                              const SymphonySettings& settings, const SymphonyWorld& world,
                              const SymphonyRun& run);

// Computes advantages and value targets of an update's episodes, which are grouped by scenario. For
// tests.
void appraise(const SymphonySettings& settings, double critical_path_ns,
              std::vector<Played>& played);

}  // namespace tutti

#endif  // TUTTI_TRAIN_SYMPHONY_TRAINER_H_
