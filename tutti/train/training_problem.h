// A TrainingProblem is a problem with a name, to learn from. What a network is told of it is the
// network's own affair (DopplerNet::features).

#ifndef TUTTI_TRAIN_TRAINING_PROBLEM_H_
#define TUTTI_TRAIN_TRAINING_PROBLEM_H_

#include <memory>
#include <string>
#include <utility>

#include "tutti/plan/problem.h"

namespace tutti {

class TrainingProblem {
 public:
  TrainingProblem(std::string name, Problem problem)
      : name_(std::move(name)), problem_(std::move(problem)) {}
  // Fails as Problem::make does.
  static Result<std::unique_ptr<TrainingProblem>> make(std::string name, Graph graph,
                                                       Machine machine, const CostSpec& costs = {},
                                                       const Constraints& constraints = {}) {
    Result<Problem> made = Problem::make(std::move(graph), std::move(machine), costs, constraints);
    if (!made) return made.error();
    return std::make_unique<TrainingProblem>(std::move(name), std::move(*made));
  }

  const std::string& name() const { return name_; }
  const Problem& problem() const { return problem_; }

 private:
  std::string name_;
  Problem problem_;
};

}  // namespace tutti

#endif  // TUTTI_TRAIN_TRAINING_PROBLEM_H_
