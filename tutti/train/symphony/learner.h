// A SymphonyLearner changes Symphony's net, and the constants of the belief it looks at, so
// that good decisions become more likely. It is the interface to libtorch, as
// tutti/train/doppler/learner.h is for Doppler.
//
// Beliefs are sampled again with the present constants and the seeds that were used, and gradients
// flow back through them: from the loss through the net to what was believed, and from there by
// the belief's own gradient to its constants.
//
// The same state, episodes and settings give the same bytes with any number of threads.

#ifndef TUTTI_TRAIN_SYMPHONY_LEARNER_H_
#define TUTTI_TRAIN_SYMPHONY_LEARNER_H_

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tutti/base/stop.h"
#include "tutti/policy/symphony/model.h"

namespace tutti {

// A decision that was made.
struct KeptDecision {
  ScoredDecision considered;
  size_t chosen = 0;     // among the actions offered
  float likelihood = 0;  // the logarithm of its odds then
  double time_ns = 0;    // when
  double reward = 0;     // of the time until the next decision
  float advantage = 0;   // how much better it turned out than expected
  float worth = 0;       // what the critic should have said
};

struct SymphonyEpisode {
  std::vector<KeptDecision> decisions;
  std::map<int32_t, JobRows> jobs;  // by JobId
};

// Decisions [first, end) of an episode, learned from with the memory that was there at the first.
struct Passage {
  const SymphonyEpisode* episode = nullptr;
  size_t first = 0;
  size_t end = 0;
};

struct SymphonyStepOptions {
  double learning_rate = 1e-3;
  double belief_rate = 0;  // of the belief's constants; 0: they stay
  GradientKind belief_gradient = GradientKind::sampling;
  // Gradients flow through the beliefs of every so many decisions, which are sampled again with the
  // present constants; the others keep the belief they had, as a constant.
  int belief_stride = 1;
  double entropy_weight = 0;
  double value_weight = 0.5;
  double clip_norm = 1;   // of the gradient of the net, and of that of the constants; 0: never
  double clip_ratio = 0;  // proximal policy optimisation; 0: plain policy gradient
  Stop stop{};            // asked now and then
};

struct SymphonyStepResult {
  double loss = 0;  // per decision, with all its parts
  double value_loss = 0;
  double entropy = 0;
  double gradient_norm = 0;
  double belief_norm = 0;  // of the gradient by the belief's constants
};

class SymphonyLearner {
 public:
  virtual ~SymphonyLearner() = default;
  // One step of Adam on the mean over all decisions. None, and no step, if it was stopped; no step
  // either if loss or gradient are not finite.
  virtual std::optional<SymphonyStepResult> step(std::span<const Passage> passages,
                                                 const SymphonyStepOptions& options) = 0;
  // For each decision: the logarithm of the chosen action's odds, and the critic's value.
  virtual std::vector<std::pair<float, float>> judge(const Passage& passage) = 0;
  virtual TensorFile model() const = 0;
  virtual TensorFile checkpoint() const = 0;
};

// Takes a model or a checkpoint. The topology and observer must outlive it. Fails (invalid_input)
// if the file is of another net, or the optimiser's state of none.
Result<std::unique_ptr<SymphonyLearner>> make_symphony_learner(const TensorFile& file,
                                                               const std::string& path,
                                                               const Topology& topology,
                                                               const Observer& observer,
                                                               int threads);

}  // namespace tutti

#endif  // TUTTI_TRAIN_SYMPHONY_LEARNER_H_
