#include "tutti/train/training_problem.h"

#include <utility>

namespace tutti {

std::unique_ptr<TrainingProblem> TrainingProblem::of(std::string name, const Problem& problem) {
  return std::unique_ptr<TrainingProblem>(new TrainingProblem(std::move(name), problem));
}

Result<std::unique_ptr<TrainingProblem>> TrainingProblem::make(std::string name, Graph graph,
                                                               Machine machine,
                                                               const CostSpec& costs,
                                                               const Constraints& constraints) {
  auto parts = std::make_unique<Parts>(Parts{std::move(graph), std::move(machine)});
  Result<Costs> built = Costs::build(parts->graph, parts->machine, costs);
  if (!built) return built.error();
  parts->costs.emplace(std::move(*built));
  Result<Problem> problem = Problem::make(parts->graph, parts->machine, *parts->costs, constraints);
  if (!problem) return problem.error();
  parts->problem.emplace(std::move(*problem));
  std::unique_ptr<TrainingProblem> world = of(std::move(name), *parts->problem);
  world->parts_ = std::move(parts);
  return world;
}

}  // namespace tutti
