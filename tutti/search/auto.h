// `auto`: what `tutti plan` emits. A portfolio inside one budget: every policy of the registry,
// then local search from the best of them; the winner is chosen on scenarios that were not used to
// find it. All on one device is among the candidates, so that it is never worse than doing nothing.
// The walks of the search are guided by the trained policy (guide.h), if there is time for it.
//
// A wall clock is handed out in shares: policies, order rules, search, judging. Each part gets a
// Stop (tutti/base/stop.h) that reaches into its loops and simulations, so that it ends in time
// whatever it is about. Where many scenarios are asked for and time is short, fewer are taken.
// Never stopped are the first plan, one simulation of it to search by, and one to judge by.

#ifndef TUTTI_SEARCH_AUTO_H_
#define TUTTI_SEARCH_AUTO_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tutti/search/entrant.h"

namespace tutti {

class DopplerModel;

struct AutoResult {
  Plan plan;
  Duration makespan{0};      // mean over the judging scenarios
  std::vector<Tried> tried;  // in the order of the registry, then what search made of them
  int scenarios = 1;         // that the search took its means over: as many as time allowed
  int judged_on = 1;         // fresh ones, likewise
  std::string shortfall{};   // says so, if either are fewer than they should be
};

struct AutoSettings {
  SearchModel model{};
  // None: as many simulations as take a second or two, so that the result can be had again.
  Budget budget{};
  uint64_t seed = 1;
  int threads = 1;
  std::optional<Duration> lower_bound{};  // if it is known already
  std::optional<Plan> from{};             // a plan to start from, beside the policies'
  std::optional<IslandsState> resume{};   // where an earlier run left off
  OnRound on_round{};                     // to show progress, or to keep the state
  // What `doppler` and those that ask it decide by; null: the model that comes with tutti.
  std::shared_ptr<const DopplerModel> network{};
};

// Fails (infeasible) if no policy finds a plan that runs; the sentence is that of the policy that
// looks at memory closest. Fails (invalid_input) if the state to go on from lies about its costs.
// Under a count of evaluations the result does not depend on the number of threads.
Result<AutoResult> plan_auto(const Problem& problem, const AutoSettings& settings);

// The count that stands for no budget.
int64_t default_evaluations(const Problem& problem);

}  // namespace tutti

#endif  // TUTTI_SEARCH_AUTO_H_
