#include "tutti/search/walk/islands.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "tutti/base/parallel.h"

namespace tutti {
namespace {

constexpr double kNearlyBest = 1.03;  // of walks in parts, after a few rounds

// What each walk may spend in one round, after `spent` simulations of all walks: if a round has
// spent too much, those after it get less.
BudgetSlice slice_of_round(const BudgetSlice& whole, int round, int64_t spent, size_t walks) {
  const auto at = [&](int i) {
    return whole.begin + (whole.end - whole.begin) * i / static_cast<double>(kRounds);
  };
  const int64_t by_then = whole.evaluations * (round + 1) / kRounds;
  return {.begin = at(round),
          .end = at(round + 1),
          .evaluations = std::max<int64_t>(0, by_then - spent) / static_cast<int64_t>(walks),
          .good_enough = whole.good_enough};
}

// The walks share the threads: under a wall clock each gets a part of the round, or the first
// would leave the others no time.
BudgetSlice slice_of_walk(const BudgetSlice& round, int island, int walks, int threads) {
  const int waves = (walks + threads - 1) / threads;
  const double length = (round.end - round.begin) / waves;
  BudgetSlice slice = round;
  const int wave = island / threads;
  slice.begin = round.begin + length * wave;
  slice.end = slice.begin + length;
  return slice;
}

bool by_best(const Walk& a, const Walk& b) {
  return a.best_cost < b.best_cost;
}

// The worst walk takes over the best plan. Walks in a part of the machine only look at those in the
// same part: a plan of the whole machine would lead them away from it.
void take_over_best(std::vector<Walk>& walks) {
  const auto of_part = std::stable_partition(walks.begin(), walks.end(),
                                             [](const Walk& walk) { return walk.within.empty(); });
  const auto take_over = [](auto begin, auto end, const Walk& best) {
    if (begin == end) return;
    const auto worst = std::max_element(begin, end, by_best);
    if (worst->best_cost > best.best_cost) worst->start_from(best.best, best.best_cost);
  };
  take_over(walks.begin(), of_part, *std::min_element(walks.begin(), walks.end(), by_best));
  for (auto begin = of_part; begin != walks.end();) {
    const auto end = std::find_if(begin, walks.end(),
                                  [&](const Walk& walk) { return walk.within != begin->within; });
    take_over(begin, end, *std::min_element(begin, end, by_best));
    begin = end;
  }
}

// If no walk in a part of the machine is nearly the best of all, those on the whole machine go on
// alone. Otherwise the better half of both kinds does, and at the end there are as many in the best
// part as on the whole machine.
void drop_the_worse_half(size_t fewest, std::vector<Walk>& walks) {
  const auto of_part = std::stable_partition(walks.begin(), walks.end(),
                                             [](const Walk& walk) { return walk.within.empty(); });
  std::vector<Walk> parts(std::make_move_iterator(of_part), std::make_move_iterator(walks.end()));
  walks.erase(of_part, walks.end());
  const auto best_of = [](const std::vector<Walk>& all) {
    return std::min_element(all.begin(), all.end(), by_best)->best_cost;
  };
  if (!walks.empty() && (parts.empty() || best_of(parts) > kNearlyBest * best_of(walks))) {
    parts.clear();
  }
  if (parts.empty() && walks.size() <= fewest) return;
  std::stable_sort(walks.begin(), walks.end(), by_best);
  std::stable_sort(parts.begin(), parts.end(), by_best);
  const size_t left = std::max(fewest, (walks.size() + parts.size() + 1) / 2);
  const size_t for_parts = parts.empty() ? 0 : left / 2;
  parts.resize(left == fewest ? std::min<size_t>(1, parts.size())
                              : std::min(parts.size(), for_parts));
  walks.resize(std::min(walks.size(), left - for_parts));
  for (Walk& walk : parts) walks.push_back(std::move(walk));
  while (!parts.empty() && walks.size() < left) walks.push_back(walks.back());  // in a part
}

}  // namespace

IslandsState start_islands(const std::vector<CostedPlan>& plans, int walks) {
  IslandsState state;
  for (int i = 0; i < walks; ++i) {
    const CostedPlan& start = plans[static_cast<size_t>(i) % plans.size()];
    state.walks.emplace_back().start_from(start.plan, start.cost);
  }
  return state;
}

void run_islands(const Problem& problem, const SearchModel& model, const MakeImprover& make,
                 const BudgetSlice& whole, const Progress& progress, uint64_t seed, int threads,
                 const OnRound& on_round, IslandsState& state, int to_the_end) {
  const auto fewest = static_cast<size_t>(to_the_end);
  std::vector<std::optional<Evaluator>> evaluators(static_cast<size_t>(threads));
  const auto done = [&] {
    return std::any_of(state.walks.begin(), state.walks.end(),
                       [&](const Walk& walk) { return walk.best_cost <= whole.good_enough; });
  };
  const int first = progress.timed() ? state.rounds : 0;
  while (state.rounds - first < kRounds && !progress.interrupted() && !done()) {
    const int round = state.rounds++;
    const BudgetSlice slice =
        slice_of_round(whole, round - first, state.evaluations, state.walks.size());
    if (progress.timed() && progress.elapsed() >= slice.end) continue;
    std::vector<int64_t> spent(state.walks.size(), 0);
    const int walks = static_cast<int>(state.walks.size());
    parallel_for(walks, threads, [&](int island, int thread) {
      auto& evaluator = evaluators[static_cast<size_t>(thread)];
      if (!evaluator) evaluator.emplace(problem, model, progress.until(whole.end));
      const BudgetSlice own =
          progress.timed() ? slice_of_walk(slice, island, walks, threads) : slice;
      if (progress.interrupted() || (!progress.timed() && own.evaluations == 0)) return;
      const int64_t before = evaluator->evaluations();
      Rng rng = Rng(seed).split(static_cast<uint64_t>(round)).split(static_cast<uint64_t>(island));
      Walk& walk = state.walks[static_cast<size_t>(island)];
      make(round - first, island, walk)->improve(walk, *evaluator, own, progress, rng);
      spent[static_cast<size_t>(island)] = evaluator->evaluations() - before;
    });
    for (const int64_t evaluations : spent) state.evaluations += evaluations;
    if (state.walks.size() <= fewest) {
      take_over_best(state.walks);
    } else if ((state.rounds - first) % kRoundsBetweenHalvings == 0) {
      drop_the_worse_half(fewest, state.walks);
    }
    if (3 * (state.rounds - first) >= 2 * kRounds) {
      for (Walk& walk : state.walks) walk.within.clear();
    }
    // A round that was cut short is not kept: a search cannot go on from it.
    if (on_round && !progress.interrupted()) on_round(state);
  }
}

}  // namespace tutti
