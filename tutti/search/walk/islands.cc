#include "tutti/search/walk/islands.h"

#include <algorithm>
#include <optional>

#include "tutti/base/parallel.h"

namespace tutti {
namespace {

// What each walk may spend in one round, after `spent` simulations of all walks: if a round has
// spent too much, those after it get less.
BudgetSlice slice_of_round(const BudgetSlice& whole, int round, int64_t spent) {
  const auto at = [&](int i) {
    return whole.begin + (whole.end - whole.begin) * i / static_cast<double>(kRounds);
  };
  const int64_t by_then = whole.evaluations * (round + 1) / kRounds;
  return {.begin = at(round),
          .end = at(round + 1),
          .evaluations = std::max<int64_t>(0, by_then - spent) / kIslands,
          .good_enough = whole.good_enough};
}

// The walks share the threads: under a wall clock each gets a part of the round, or the first
// would leave the others no time.
BudgetSlice slice_of_walk(const BudgetSlice& round, int island, int threads) {
  const int waves = (kIslands + threads - 1) / threads;
  const double length = (round.end - round.begin) / waves;
  BudgetSlice slice = round;
  const int wave = island / threads;
  slice.begin = round.begin + length * wave;
  slice.end = slice.begin + length;
  return slice;
}

void take_over_best(std::vector<Walk>& walks) {
  const auto by_best = [](const Walk& a, const Walk& b) { return a.best_cost < b.best_cost; };
  const auto best = std::min_element(walks.begin(), walks.end(), by_best);
  const auto worst = std::max_element(walks.begin(), walks.end(), by_best);
  if (worst->best_cost > best->best_cost) worst->start_from(best->best, best->best_cost);
}

}  // namespace

IslandsState start_islands(const std::vector<CostedPlan>& plans) {
  IslandsState state;
  for (int i = 0; i < kIslands; ++i) {
    const CostedPlan& start = plans[static_cast<size_t>(i) % plans.size()];
    state.walks.emplace_back().start_from(start.plan, start.cost);
  }
  return state;
}

void run_islands(const Problem& problem, const SearchModel& model, const MakeImprover& make,
                 const BudgetSlice& whole, const Progress& progress, uint64_t seed, int threads,
                 const OnRound& on_round, IslandsState& state) {
  std::vector<std::optional<Evaluator>> evaluators(static_cast<size_t>(threads));
  const auto done = [&] {
    return std::any_of(state.walks.begin(), state.walks.end(),
                       [&](const Walk& walk) { return walk.best_cost <= whole.good_enough; });
  };
  const int first = progress.timed() ? state.rounds : 0;
  while (state.rounds - first < kRounds && !progress.interrupted() && !done()) {
    const int round = state.rounds++;
    const BudgetSlice slice = slice_of_round(whole, round - first, state.evaluations);
    if (progress.timed() && progress.elapsed() >= slice.end) continue;
    std::vector<int64_t> spent(state.walks.size(), 0);
    parallel_for(kIslands, threads, [&](int island, int thread) {
      auto& evaluator = evaluators[static_cast<size_t>(thread)];
      if (!evaluator) evaluator.emplace(problem, model, progress.until(whole.end));
      const BudgetSlice own = progress.timed() ? slice_of_walk(slice, island, threads) : slice;
      if (progress.interrupted() || (!progress.timed() && own.evaluations == 0)) return;
      const int64_t before = evaluator->evaluations();
      Rng rng = Rng(seed).split(static_cast<uint64_t>(round)).split(static_cast<uint64_t>(island));
      make(round - first, island)
          ->improve(state.walks[static_cast<size_t>(island)], *evaluator, own, progress, rng);
      spent[static_cast<size_t>(island)] = evaluator->evaluations() - before;
    });
    for (const int64_t evaluations : spent) state.evaluations += evaluations;
    take_over_best(state.walks);
    // A round that was cut short is not kept: a search cannot go on from it.
    if (on_round && !progress.interrupted()) on_round(state);
  }
}

}  // namespace tutti
