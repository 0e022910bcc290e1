// A TrainingProblem is a problem with a name, to learn from. What a network is told of it is the
// network's own affair (DopplerNet::features). It stays where it was made, since its parts refer to
// each other.

#ifndef TUTTI_TRAIN_TRAINING_PROBLEM_H_
#define TUTTI_TRAIN_TRAINING_PROBLEM_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "tutti/plan/problem.h"

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

 private:
  // What a problem refers to.
  struct Parts {
    Graph graph;
    Machine machine;
    std::optional<Costs> costs{};
    std::optional<Problem> problem{};
  };

  TrainingProblem(std::string name, const Problem& problem)
      : name_(std::move(name)), problem_(&problem) {}

  std::unique_ptr<Parts> parts_;  // none: they are someone else's
  std::string name_;
  const Problem* problem_;
};

}  // namespace tutti

#endif  // TUTTI_TRAIN_TRAINING_PROBLEM_H_
