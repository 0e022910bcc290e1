#include "tutti/search/samples.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "tutti/base/parallel.h"
#include "tutti/policy/doppler/planner.h"

namespace tutti {

void PolicySamples::improve(Walk& walk, Evaluator& evaluator, const Leg& leg,
                            const Progress& progress, Rng& rng) {
  const int64_t before = evaluator.evaluations();
  int refused = 0;  // in a row: memory may leave no sample a chance
  while (walk.best_cost > leg.good_enough && refused < 100 &&
         !progress.over(leg, evaluator.evaluations() - before)) {
    std::optional<Plan> plan = guide_.draw_plan(Rng(rng.next()), evaluator.stop());
    if (!plan) {
      ++refused;
      continue;
    }
    refused = 0;
    const double cost = evaluator.cost(*plan, walk.cost);
    if (cost < walk.cost) walk.start_from(*plan, cost);
  }
}

Candidate best_of_samples(const DopplerModel& model, const Problem& problem,
                          const SearchModel& judging, int samples, Rng rng, int threads) {
  const auto features = model.features(problem);
  struct Worker {
    std::unique_ptr<Actor> actor;
    Evaluator evaluator;
  };
  std::vector<std::optional<Worker>> workers(static_cast<size_t>(threads));
  std::vector<Candidate> found(static_cast<size_t>(samples) + 1);
  parallel_for(samples + 1, threads, [&](int index, int thread) {
    auto& worker = workers[static_cast<size_t>(thread)];
    if (!worker) {
      worker.emplace(Worker{model.actor(problem, *features), Evaluator(problem, judging)});
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
                        [](const Candidate& a, const Candidate& b) { return a.cost < b.cost; }));
}

}  // namespace tutti
