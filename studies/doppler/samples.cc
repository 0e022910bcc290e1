#include "studies/doppler/samples.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "tutti/base/parallel.h"
#include "tutti/policy/doppler/planner.h"

namespace tutti {

CostedPlan best_of_samples(const DopplerModel& model, const Problem& problem,
                           const SearchModel& evaluation, int samples, Rng rng, int threads) {
  const auto features = model.features(problem);
  struct Worker {
    std::unique_ptr<Actor> actor;
    Evaluator evaluator;
  };
  std::vector<std::optional<Worker>> workers(static_cast<size_t>(threads));
  std::vector<CostedPlan> found(static_cast<size_t>(samples) + 1);
  parallel_for(samples + 1, threads, [&](int index, int thread) {
    auto& worker = workers[static_cast<size_t>(thread)];
    if (!worker) {
      worker.emplace(Worker{model.actor(problem, *features), Evaluator(problem, evaluation)});
    }
    const auto at = static_cast<size_t>(index);
    std::optional<Plan> plan;
    if (index == 0) {
      if (Result<Plan> greedy = plan_greedily(model, problem); greedy) plan = std::move(*greedy);
    } else {
      plan = worker->actor->act({.mode = Acting::Mode::sample}, rng.split(at));
    }
    if (!plan) return;
    const double cost = worker->evaluator.cost(*plan);
    found[at] = {std::move(*plan), cost};
  });
  return std::move(
      *std::min_element(found.begin(), found.end(),
                        [](const CostedPlan& a, const CostedPlan& b) { return a.cost < b.cost; }));
}

}  // namespace tutti
