// Deciding in two answers: which op next (Select), and on which device (Place). A method that does
// not go step by step is a Planner; one that sees all jobs at once is a Decider
// (tutti/plan/world/decider.h), which tutti/plan/world/select_place.h makes of a Select and a
// Place.
//
// Policies know nothing of runtimes, and runtimes see policies only through these headers.

#ifndef TUTTI_PLAN_POLICY_H_
#define TUTTI_PLAN_POLICY_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "tutti/base/stop.h"
#include "tutti/plan/plan.h"
#include "tutti/plan/state.h"

namespace tutti {

class Select {
 public:
  virtual ~Select() = default;
  // Returns one of state.ready(), which is never empty here; or none, which means "nothing now"
  // and is only allowed during a run.
  virtual std::optional<OpId> select(const State& state) = 0;
};

class Place {
 public:
  virtual ~Place() = default;
  // Returns one of state.devices_for(op), which is never empty here.
  virtual DeviceId place(const State& state, OpId op) = 0;
};

struct Policy {
  std::unique_ptr<Select> select;
  std::unique_ptr<Place> place;
};

// Makes the pair for one problem and seed: policies may compute things beforehand.
using MakePolicy = std::function<Policy(const Problem& problem, uint64_t seed)>;

// How much a planner may spend. Under a count the same seed gives the same plan. Wall clock and
// count are for planners that search; the stop is for all.
struct Budget {
  std::optional<std::chrono::milliseconds> wall_clock{};
  std::optional<int64_t> evaluations{};
  Stop stop{};  // from then on: return the best so far, or out_of_time()
};

// The error of a planner that was stopped before it had a plan.
inline Error out_of_time() {
  return {Error::Kind::out_of_time, "left out: the budget was short"};
}

// Plans a whole problem. Fails (infeasible) with a sentence if it finds no plan that obeys it.
using Planner =
    std::function<Result<Plan>(const Problem& problem, const Budget& budget, uint64_t seed)>;

}  // namespace tutti

#endif  // TUTTI_PLAN_POLICY_H_
