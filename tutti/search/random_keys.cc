#include "tutti/search/random_keys.h"

#include <algorithm>
#include <queue>
#include <utility>

#include "tutti/policy/insertion.h"
#include "tutti/policy/ranks.h"

namespace tutti {

RandomKeys::RandomKeys(const Problem& problem)
    : problem_(problem), ranks_(upward_ranks(problem, EdgeWeight::all_pairs)) {}

Result<Plan> RandomKeys::decode(const std::vector<double>& keys) const {
  const Graph& graph = problem_.graph;
  std::vector<int32_t> missing(static_cast<size_t>(graph.size()), 0);
  std::priority_queue<std::pair<double, int32_t>> ready;  // the smaller id first where keys tie
  for (const OpId op : graph.ops()) {
    for (const EdgeId edge : graph.edges(op)) missing[op.index] += graph.edge_from(edge).valid();
    if (missing[op.index] == 0) ready.emplace(keys[op.index], -op.index);
  }
  InsertionSchedule schedule(problem_);
  while (!ready.empty()) {
    const OpId op{-ready.top().second};
    ready.pop();
    schedule.place(op, schedule.best(op));
    for (const ValueId value : graph.outputs(op)) {
      for (const EdgeId edge : graph.consumers(value)) {
        const OpId reader = graph.edge_to(edge);
        if (--missing[reader.index] == 0) ready.emplace(keys[reader.index], -reader.index);
      }
    }
  }
  return std::move(schedule).to_plan();
}

void RandomKeys::improve(Walk& walk, Evaluator& evaluator, const Leg& leg, const Progress& progress,
                         Rng& rng) {
  const int64_t before = evaluator.evaluations();
  int refused = 0;  // in a row: memory may leave no sample a chance
  while (!progress.over(leg, evaluator.evaluations() - before) && refused < 100) {
    const double spread = 0.02 * static_cast<double>(1 << rng.below(6));
    keys_ = ranks_;
    for (double& key : keys_) key *= 1 + spread * (2 * rng.uniform() - 1);
    const Result<Plan> plan = decode(keys_);
    if (!plan) {
      ++refused;
      continue;
    }
    refused = 0;
    const double cost = evaluator.cost(*plan, walk.cost);
    if (cost < walk.cost) walk.start_from(*plan, cost);
  }
}

}  // namespace tutti
