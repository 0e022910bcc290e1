#include "tutti/search/islands.h"

#include <algorithm>
#include <optional>

#include "tutti/base/parallel.h"

namespace tutti {
namespace {

// What one round may spend of the whole, for each walk, after `spent` simulations of all: what a
// round has spent too much, those after it do without.
Leg leg_of(const Leg& whole, int round, int64_t spent) {
  const auto at = [&](int i) {
    return whole.begin + (whole.end - whole.begin) * i / static_cast<double>(kRounds);
  };
  const int64_t by_then = whole.evaluations * (round + 1) / kRounds;
  return {.begin = at(round),
          .end = at(round + 1),
          .evaluations = std::max<int64_t>(0, by_then - spent) / kIslands,
          .good_enough = whole.good_enough};
}

// The walks share the threads: under a wall clock each gets its slice of the round, or the first
// would leave the others nothing.
Leg slice_of(const Leg& leg, int island, int threads) {
  const int waves = (kIslands + threads - 1) / threads;
  const double length = (leg.end - leg.begin) / waves;
  Leg slice = leg;
  const int wave = island / threads;
  slice.begin = leg.begin + length * wave;
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

IslandsState start_islands(const std::vector<Candidate>& candidates) {
  IslandsState state;
  for (int i = 0; i < kIslands; ++i) {
    const Candidate& candidate = candidates[static_cast<size_t>(i) % candidates.size()];
    state.walks.emplace_back().start_from(candidate.plan, candidate.cost);
  }
  return state;
}

void run_islands(const Problem& problem, const SearchModel& model, const MakeImprover& make,
                 const Leg& whole, const Progress& progress, uint64_t seed, int threads,
                 const OnRound& on_round, IslandsState& state) {
  std::vector<std::optional<Evaluator>> evaluators(static_cast<size_t>(threads));
  const auto done = [&] {
    return std::any_of(state.walks.begin(), state.walks.end(),
                       [&](const Walk& walk) { return walk.best_cost <= whole.good_enough; });
  };
  const int first = progress.timed() ? state.rounds : 0;
  while (state.rounds - first < kRounds && !progress.interrupted() && !done()) {
    const int round = state.rounds++;
    const Leg leg = leg_of(whole, round - first, state.evaluations);
    if (progress.timed() && progress.elapsed() >= leg.end) continue;
    std::vector<int64_t> spent(state.walks.size(), 0);
    parallel_for(kIslands, threads, [&](int island, int thread) {
      auto& evaluator = evaluators[static_cast<size_t>(thread)];
      if (!evaluator) evaluator.emplace(problem, model, progress.until(whole.end));
      const Leg own = progress.timed() ? slice_of(leg, island, threads) : leg;
      if (progress.interrupted() || (!progress.timed() && own.evaluations == 0)) return;
      const int64_t before = evaluator->evaluations();
      Rng rng = Rng(seed).split(static_cast<uint64_t>(round)).split(static_cast<uint64_t>(island));
      make(round - first, island)
          ->improve(state.walks[static_cast<size_t>(island)], *evaluator, own, progress, rng);
      spent[static_cast<size_t>(island)] = evaluator->evaluations() - before;
    });
    for (const int64_t evaluations : spent) state.evaluations += evaluations;
    take_over_best(state.walks);
    // A round that was cut short is not one to go on from.
    if (on_round && !progress.interrupted()) on_round(state);
  }
}

}  // namespace tutti
