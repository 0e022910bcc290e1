// `auto`: what `tutti plan` emits. A portfolio inside one budget: every policy of the registry,
// then local search from the best of them; the winner is chosen on held-out scenarios. All on one
// device is among the candidates, so that it is never worse than doing nothing. The search is
// guided by the trained policy (walk/guide.h) if there is time for it.
//
// A wall clock is divided into shares: policies, order rules, search, held-out scenarios. Each part
// gets a Stop (tutti/base/stop.h) that its loops and simulations check, so that it ends in time. If
// many scenarios are asked for and time is short, fewer are used. Three things are never stopped:
// the first plan, one simulation of it for the search, and one held-out simulation.
//
// A planner that searches one way (planners.h) is the same portfolio with one improver.

#ifndef TUTTI_SEARCH_AUTO_H_
#define TUTTI_SEARCH_AUTO_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tutti/search/candidates.h"
#include "tutti/search/walk/guide.h"
#include "tutti/search/walk/islands.h"

namespace tutti {

struct AutoResult {
  Plan plan;
  Duration makespan{0};        // mean over the held-out scenarios
  std::vector<Tried> tried{};  // in the order of the registry, then the search
  int scenarios = 1;           // of the search: as many as time allowed
  int judged_on = 1;           // held-out scenarios, likewise
  std::string shortfall{};     // a sentence, if either are fewer than they should be
};

struct AutoSettings {
  SearchModel model{};
  // None: as many simulations as take a second or two, so that the result can be repeated.
  Budget budget{};
  uint64_t seed = 1;
  int threads = 1;
  std::optional<Duration> lower_bound{};  // if it is known already
  std::optional<Plan> from{};             // a plan to start from, in addition to the policies'
  std::optional<IslandsState> resume{};   // the state of an earlier run, to continue from
  OnRound on_round{};                     // to show progress, or to keep the state
  // The model of `doppler` and of the searches that it guides; null: the one that comes with tutti.
  std::shared_ptr<const DopplerModel> trained_model{};
};

// Fails (infeasible) if no policy finds a plan that runs; the sentence is that of the policy that
// looks at memory closest. Fails (invalid_input) if the costs in the state to resume are wrong.
// Under a count of evaluations the result does not depend on the number of threads.
Result<AutoResult> plan_auto(const Problem& problem, const AutoSettings& settings);

// A walk and the round that it is to be improved in.
struct WalkRound {
  const Problem& problem;
  bool ordering;  // priorities matter
  int round;
  Guide* guide;  // the walk's own; null without a model
};
using MakeSearch = std::function<std::unique_ptr<Improver>(const WalkRound&)>;

// One way of searching.
struct SearchMethod {
  MakeSearch improve;
  std::shared_ptr<const DopplerModel> model{};  // of the guides; null: none
  MakeSearch unguided{};  // instead, if guides would take too long; none: no search then
};

// Searches from the best plans of a few quick policies, or, if those do not run, of the first
// policy of the registry whose plan does. With a model, its greedy plan is one of them. The result
// is the best on the scenarios of the search. Fails as plan_auto does.
Result<Plan> plan_by_search(const Problem& problem, const SearchMethod& method,
                            const AutoSettings& settings);

// The plan of any planner, with its makespan on held-out scenarios. Fails as the planner does, or
// if its plan does not run.
Result<AutoResult> plan_and_evaluate(const PolicyEntry& entry, const Problem& problem,
                                     const AutoSettings& settings);

// The count that stands for no budget.
int64_t default_evaluations(const Problem& problem);

}  // namespace tutti

#endif  // TUTTI_SEARCH_AUTO_H_
