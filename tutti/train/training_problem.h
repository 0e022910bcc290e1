// A TrainingProblem is a problem with all that a learner needs of it: the features, worked out
// once. It stays where it was made, since its parts refer to each other.

#ifndef TUTTI_TRAIN_TRAINING_PROBLEM_H_
#define TUTTI_TRAIN_TRAINING_PROBLEM_H_

#include <memory>
#include <optional>
#include <string>

#include "tutti/policy/doppler/features.h"
#include "tutti/policy/doppler/published/features.h"
#include "tutti/policy/doppler/rivals/rival_features.h"
#include "tutti/policy/doppler/scene.h"
#include "tutti/runtime/sim/sim.h"

namespace tutti {

class TrainingProblem {
 public:
  // Of a problem that outlives it.
  static std::unique_ptr<TrainingProblem> of(std::string name, const Problem& problem);
  // With a graph, machine and costs of its own. Fails as Costs::build and Problem::make do.
  static Result<std::unique_ptr<TrainingProblem>> make(std::string name, Graph graph,
                                                       Machine machine, const CostSpec& costs = {},
                                                       const Constraints& constraints = {});
  TrainingProblem(const TrainingProblem&) = delete;
  TrainingProblem& operator=(const TrainingProblem&) = delete;

  const std::string& name() const { return name_; }
  const Problem& problem() const { return *problem_; }
  const ProblemFeatures& features() const { return features_; }
  const SceneFacts& facts() const { return facts_; }
  const PublishedFeatures& published_features() const { return published_features_; }
  const RivalFeatures& rival_features() const { return rival_features_; }

 private:
  // What a problem refers to.
  struct Parts {
    Graph graph;
    Machine machine;
    std::optional<Costs> costs{};
    std::optional<Problem> problem{};
  };

  TrainingProblem(std::string name, const Problem& problem);

  std::unique_ptr<Parts> parts_;  // none: they are someone else's
  std::string name_;
  const Problem* problem_;
  ProblemFeatures features_;
  SceneFacts facts_;
  PublishedFeatures published_features_;
  RivalFeatures rival_features_;
};

}  // namespace tutti

#endif  // TUTTI_TRAIN_TRAINING_PROBLEM_H_
