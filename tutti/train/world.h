// A World is a problem with all that a learner needs of it: it owns graph, machine and costs, and
// has the features worked out. It stays where it was made, since its parts refer to each other.

#ifndef TUTTI_TRAIN_WORLD_H_
#define TUTTI_TRAIN_WORLD_H_

#include <memory>
#include <string>

#include "tutti/policy/doppler/features.h"
#include "tutti/policy/doppler/scene.h"
#include "tutti/runtime/sim/sim.h"

namespace tutti {

class World {
 public:
  // Fails as Costs::build and Problem::make do.
  static Result<std::unique_ptr<World>> make(std::string name, Graph graph, Machine machine,
                                             const CostSpec& costs = {},
                                             const Constraints& constraints = {});
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  const std::string& name() const { return name_; }
  const Problem& problem() const { return *problem_; }
  const ProblemFeatures& features() const { return features_; }
  const SceneFacts& facts() const { return *facts_; }

 private:
  World(std::string name, Graph graph, Machine machine)
      : name_(std::move(name)), graph_(std::move(graph)), machine_(std::move(machine)) {}

  std::string name_;
  Graph graph_;
  Machine machine_;
  std::optional<Costs> costs_;
  std::optional<Problem> problem_;
  ProblemFeatures features_;
  std::optional<SceneFacts> facts_;
};

}  // namespace tutti

#endif  // TUTTI_TRAIN_WORLD_H_
