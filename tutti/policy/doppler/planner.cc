#include "tutti/policy/doppler/planner.h"

#include "tutti/policy/tight_memory.h"

namespace tutti {

Result<Plan> plan_greedily(const DopplerModel& model, const Problem& problem, const Stop& stop) {
  const ProblemFeatures features = problem_features(problem);
  const SceneFacts facts(problem);
  const auto actor = model.actor(problem, features, facts);
  return plan_with_room(problem, stop, [&](double share) {
    return actor->act({.mode = Acting::Mode::greedy, .memory_share = share, .stop = stop}, Rng(0));
  });
}

}  // namespace tutti
