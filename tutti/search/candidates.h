// Candidates are the plans that a portfolio (auto.h) starts from and chooses among. Here policies
// of the registry are asked for theirs, within a share of the budget: in the order of their turns,
// and slow policies (PolicyEntry::slowness) only if there is time for them, so that a short wall
// clock is not spent on a few. Under a count all are asked.

#ifndef TUTTI_SEARCH_CANDIDATES_H_
#define TUTTI_SEARCH_CANDIDATES_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tutti/policy/registry.h"
#include "tutti/search/evaluate/evaluator.h"
#include "tutti/search/evaluate/progress.h"
#include "tutti/search/walk/walk.h"

namespace tutti {

// The result of a candidate, as it is shown.
struct Tried {
  std::string policy;
  Duration makespan{kNever};  // mean over held-out scenarios; kNever if it has no plan that runs
  std::string refusal{};      // why it has none
  bool late = false;          // because time was short
};

struct Candidate {
  Tried tried;
  std::string order{};                // the rule that gave it its priorities, if not its own
  std::optional<CostedPlan> found{};  // none: it has no plan that runs
  double plan_seconds = 0;            // that its plan took
};

// Those with a plan, the best first; the earlier first if they are equal.
std::vector<Candidate*> by_cost(std::vector<Candidate>& candidates);

// The state that the parts of a portfolio share.
struct PortfolioWork {
  const Problem& problem;
  const Progress& progress;
  SearchModel model;  // with as many scenarios as time allows, once there is a plan
  uint64_t seed = 1;
  int threads = 1;
  std::shared_ptr<const DopplerModel> trained_model{};  // as in AutoSettings
  int64_t evaluations = 0;                              // simulations so far
  std::chrono::duration<double> simulation{0};          // how long one takes, if that matters
};

// Shares of a wall clock: policies that have not started by `begin` are skipped; those that have
// are stopped at `end`.
struct AskingTime {
  double begin;
  double end;
};
inline constexpr AskingTime kAskAll{.begin = 0.35, .end = 0.5};
inline constexpr AskingTime kAskStarts{.begin = 0.2, .end = 0.2};

// May evaluating be stopped before there is a result?
enum class Stopping { allowed, not_before_a_plan };

// Evaluates the plan and gives it to the candidate; if it does not run, the reason.
void evaluate(const PortfolioWork& work, Plan plan, Stopping stopping, Evaluator& evaluator,
              Candidate& candidate);

// One candidate for each of policies_to_ask(), in the order of the registry. The clock stops no
// policy until there is a plan that runs.
std::vector<Candidate> ask_policies(PortfolioWork& work);

// Only the policies that searches start from; if no plan of theirs runs, the others until one does.
// In the order they were asked.
std::vector<Candidate> ask_for_starts(PortfolioWork& work);

// For problems on which no policy's plan runs: asks all policies and beam search again as if each
// memory were a little smaller, then smaller still, and tries every order rule, until a plan runs
// with the true memory. A draft that just fits may get stuck in a run; one that leaves some room
// often does not. Returns those that run; none if nothing helps or memory is not limited.
std::vector<Candidate> ask_with_less_memory(PortfolioWork& work);

// All policies that plan but those for comparison only, in the order they are asked.
std::vector<PolicyEntry> policies_to_ask(
    const std::shared_ptr<const DopplerModel>& trained_model = {});

// Why there is no plan: the proven reason if there is one (tutti/policy/schedule/memory.h), else
// the refusal of the candidate that looks at memory closest. Infeasible.
Error why_no_plan(const Problem& problem, const std::vector<Candidate>& candidates);

}  // namespace tutti

#endif  // TUTTI_SEARCH_CANDIDATES_H_
