// Several walks side by side, in rounds: between rounds the worst walk takes over the best plan met
// so far. The number of walks is fixed, so that the threads only decide how fast it goes.

#ifndef TUTTI_SEARCH_ISLANDS_H_
#define TUTTI_SEARCH_ISLANDS_H_

#include <functional>
#include <memory>
#include <vector>

#include "tutti/search/walk.h"

namespace tutti {

inline constexpr int kIslands = 4;
inline constexpr int kRounds = 24;

// A plan and its cost on the scenarios of the search.
struct Candidate {
  Plan plan;
  double cost = kNoPlan;
};

// All that a search needs to go on from the end of a round.
struct IslandsState {
  int rounds = 0;  // done; under a wall clock each call adds its own
  int64_t evaluations = 0;
  std::vector<Walk> walks{};
};

// Which way to improve a walk in a round.
using MakeImprover = std::function<std::unique_ptr<Improver>(int round, int island)>;

// Called after each round.
using OnRound = std::function<void(const IslandsState&)>;

// Walk i starts from candidate i, or from the first ones again where there are fewer. Requires one
// with a finite cost.
IslandsState start_islands(const std::vector<Candidate>& candidates);

// Takes the state through its remaining rounds, or under a wall clock through as many again.
// `whole` is the part of the search that all rounds together may spend. Under a count of
// evaluations, the same state and seed give the same result.
void run_islands(const Problem& problem, const SearchModel& model, const MakeImprover& make,
                 const Leg& whole, const Progress& progress, uint64_t seed, int threads,
                 const OnRound& on_round, IslandsState& state);

}  // namespace tutti

#endif  // TUTTI_SEARCH_ISLANDS_H_
