#include "tutti/train/world.h"

namespace tutti {

Result<std::unique_ptr<World>> World::make(std::string name, Graph graph, Machine machine,
                                           const CostSpec& costs, const Constraints& constraints) {
  std::unique_ptr<World> world(new World(std::move(name), std::move(graph), std::move(machine)));
  Result<Costs> built = Costs::build(world->graph_, world->machine_, costs);
  if (!built) return built.error();
  world->costs_.emplace(std::move(*built));
  Result<Problem> problem =
      Problem::make(world->graph_, world->machine_, *world->costs_, constraints);
  if (!problem) return problem.error();
  world->problem_.emplace(std::move(*problem));
  world->features_ = problem_features(*world->problem_);
  world->facts_.emplace(*world->problem_);
  return world;
}

}  // namespace tutti
