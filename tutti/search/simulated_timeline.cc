#include "tutti/search/simulated_timeline.h"

namespace tutti {

std::optional<Duration> give_timeline(const Problem& problem, const SearchModel& model,
                                      const Stop& stop, Plan& plan) {
  plan.start.clear();
  plan.finish.clear();
  plan.planned_makespan.reset();
  plan.simulated = false;
  if (model.model != SimModel::physical) return std::nullopt;
  constexpr int32_t kSmall = 50'000;  // ops
  PhysicalSimulator simulator(problem);
  const Result<Duration> makespan =
      simulator.run(plan, {.order = model.order,
                           .seed = model.scenarios.seed,
                           .sample = false,
                           .stop = problem.graph.size() <= kSmall ? Stop() : stop});
  if (!makespan || *makespan == kNever) return std::nullopt;
  for (const OpId op : problem.graph.ops()) {
    plan.start.push_back(simulator.start(op));
    plan.finish.push_back(simulator.finish(op));
  }
  plan.planned_makespan = *makespan;
  plan.simulated = model.order == ReadyOrder::priority;  // the order in which the judge repeats it
  return *makespan;
}

}  // namespace tutti
