#include "tutti/search/walk/random_keys.h"

#include <algorithm>
#include <utility>

#include "tutti/policy/heuristic/contention_eft.h"
#include "tutti/policy/schedule/insertion.h"
#include "tutti/policy/schedule/keeping.h"
#include "tutti/policy/schedule/ranks.h"
#include "tutti/policy/schedule/ready_queue.h"

namespace tutti {

RandomKeys::RandomKeys(const Problem& problem, Decoder decoder)
    : problem_(problem), decoder_(decoder), ranks_(upward_ranks(problem, EdgeWeight::all_pairs)) {}

Result<Plan> RandomKeys::decode(const std::vector<double>& keys, const Stop& stop) const {
  if (decoder_ == Decoder::contention) {
    return contention_eft(problem_, {.keys = &keys, .stop = stop});
  }
  InsertionSchedule schedule(problem_);
  for (ReadyQueue ready(problem_.graph, keys); !ready.empty();) {
    if (stop.now()) return out_of_time();
    const OpId op = ready.pop();
    schedule.place(op, schedule.best(op));
  }
  return std::move(schedule).to_plan();
}

void RandomKeys::perturb(Rng& rng) {
  const double spread = 0.02 * static_cast<double>(1 << rng.below(6));
  keys_ = ranks_;
  for (double& key : keys_) key *= 1 + spread * (2 * rng.uniform() - 1);
}

void RandomKeys::shift(Rng& rng) {
  keys_ = best_keys_;
  for (uint64_t moves = 1 + rng.below(4); moves > 0; --moves) {
    const size_t op = rng.below(keys_.size());
    const size_t other = rng.below(keys_.size());
    if (rng.below(2) == 0) {
      std::swap(keys_[op], keys_[other]);
    } else {
      keys_[op] = keys_[other] * (1 + (rng.uniform() - 0.5) * 1e-6);
    }
  }
}

void RandomKeys::improve(Walk& walk, Evaluator& evaluator, const BudgetSlice& slice,
                         const Progress& progress, Rng& rng) {
  const int64_t before = evaluator.evaluations();
  // Keys that give the order of the plan it starts from: a million for the first op.
  best_keys_.resize(ranks_.size());
  std::vector<OpId> order;
  for (const OpId op : problem_.graph.ops()) order.push_back(op);
  std::stable_sort(order.begin(), order.end(), [&](OpId a, OpId b) {
    return walk.plan.priority[a.index] < walk.plan.priority[b.index];
  });
  for (size_t i = 0; i < order.size(); ++i) {
    best_keys_[order[i].index] =
        1e6 * (1 - static_cast<double>(i) / static_cast<double>(order.size()));
  }
  int refused = 0;  // in a row: memory may be too short for any sample
  while (walk.best_cost > slice.good_enough && refused < 100 &&
         !progress.over(slice, evaluator.evaluations() - before)) {
    rng.below(8) == 0 ? perturb(rng) : shift(rng);
    Result<Plan> plan = decode(keys_, evaluator.stop());
    if (!plan || (problem_.has_homed_weights() && !choose_keeping(problem_, *plan))) {
      ++refused;
      continue;
    }
    refused = 0;
    const double cost = evaluator.cost(*plan, walk.cost);
    if (cost > walk.cost) continue;
    best_keys_ = keys_;
    walk.plan = std::move(*plan);
    walk.cost = cost;
    walk.note_best();
  }
}

}  // namespace tutti
