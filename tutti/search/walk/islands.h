// Several walks in parallel, in rounds: between rounds the worst walk takes over the best plan
// found so far. A search may begin with more walks, in parts of the machine: after a few rounds
// these go on only if one of them is the best. Under a
// count the number of walks does not depend on the number of threads, which then changes only the
// speed.

#ifndef TUTTI_SEARCH_WALK_ISLANDS_H_
#define TUTTI_SEARCH_WALK_ISLANDS_H_

#include <functional>
#include <memory>
#include <vector>

#include "tutti/search/walk/walk.h"

namespace tutti {

inline constexpr int kIslands = 4;
inline constexpr int kRounds = 24;
inline constexpr int kRoundsBetweenHalvings = 3;

// All that a search needs to continue after a round.
struct IslandsState {
  int rounds = 0;  // done; under a wall clock each call adds its own
  int64_t evaluations = 0;
  std::vector<Walk> walks{};
};

// Chooses how to improve a walk in a round.
using MakeImprover =
    std::function<std::unique_ptr<Improver>(int round, int island, const Walk& walk)>;

// Called after each round.
using OnRound = std::function<void(const IslandsState&)>;

// So many walks. Walk i starts from plan i, or from the first ones again if there are fewer.
// Requires one of finite cost.
IslandsState start_islands(const std::vector<CostedPlan>& plans, int walks = kIslands);

// Runs the remaining rounds; under a wall clock, as many rounds again. `to_the_end` walks are never
// dropped; once there are no more than that, walks in parts of the machine may use all of it in
// turn. `whole` is the part of the budget that all rounds together may spend. Under a count of
// evaluations, the same state and seed give the same result.
void run_islands(const Problem& problem, const SearchModel& model, const MakeImprover& make,
                 const BudgetSlice& whole, const Progress& progress, uint64_t seed, int threads,
                 const OnRound& on_round, IslandsState& state, int to_the_end = kIslands);

}  // namespace tutti

#endif  // TUTTI_SEARCH_WALK_ISLANDS_H_
