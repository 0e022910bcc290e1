// Asking the policies of the registry for their plans, within a share of a budget. Those that bring
// much for their time come first; those that take many times as long come last, and only if there
// is time for them, so that a short wall clock is not spent on a few. Under a count all are asked.

#ifndef TUTTI_SEARCH_ASKING_H_
#define TUTTI_SEARCH_ASKING_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "tutti/policy/registry.h"
#include "tutti/search/entrant.h"

namespace tutti {

// Shares of a wall clock. Policies that have not begun by then are left out; those that have are
// stopped a while later.
inline constexpr double kPoliciesBegin = 0.35;
inline constexpr double kPoliciesEnd = 0.5;

// What all of `auto` works by.
struct AutoWork {
  const Problem& problem;
  const Progress& progress;
  SearchModel model;  // with as many scenarios as time allows, once policies have been asked
  uint64_t seed = 1;
  int threads = 1;
  std::shared_ptr<const DopplerModel> network{};  // as in AutoSettings
  int64_t evaluations = 0;                        // simulations so far
  std::chrono::duration<double> simulation{0};    // how long one takes, if that matters
};

// May a part of the work be stopped before it has brought anything?
enum class Stopping { allowed, not_before_a_plan };

// Weighs the plan and gives it to the entrant, or the sentence why it does not run.
void weigh(const AutoWork& work, Plan plan, Stopping stopping, Evaluator& evaluator,
           Entrant& entrant);

// One entrant for each of policies_to_ask(), in the order of the registry. Until there is a plan
// that runs, the clock stops nobody.
std::vector<Entrant> ask_policies(AutoWork& work);

// For when no policy's plan runs: asks them, and beam search, again as if each memory were a little
// smaller and then smaller yet, and tries every order rule, until a plan runs with the memory there
// is. A draft that just fits may get stuck in a run; one that leaves some room often does not.
// Gives those that run, by name; none if nothing helps or memory is not what lacks.
std::vector<Entrant> ask_with_less_memory(AutoWork& work);

// All that are not for comparison only, in the order they are asked; `network` as in AutoSettings.
std::vector<PolicyEntry> policies_to_ask(const std::shared_ptr<const DopplerModel>& network = {});

}  // namespace tutti

#endif  // TUTTI_SEARCH_ASKING_H_
