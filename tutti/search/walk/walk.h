// A Walk is the state of one local search: its current plan, the cost of that plan, and the best
// plan found so far. An Improver continues it.

#ifndef TUTTI_SEARCH_WALK_WALK_H_
#define TUTTI_SEARCH_WALK_WALK_H_

#include <vector>

#include "tutti/base/random.h"
#include "tutti/search/evaluate/evaluator.h"
#include "tutti/search/evaluate/progress.h"

namespace tutti {

// A plan and its cost on the scenarios of the search.
struct CostedPlan {
  Plan plan;
  double cost = kNoPlan;
};

struct Walk {
  Plan plan;
  double cost = kNoPlan;
  Plan best;
  double best_cost = kNoPlan;
  // The devices that its moves may use, sorted by id; empty: all.
  std::vector<DeviceId> within{};

  // Continues from a plan of known cost.
  void start_from(const Plan& from, double from_cost) {
    plan = from;
    cost = from_cost;
    note_best();
  }
  void note_best() {
    if (cost >= best_cost) return;
    best = plan;
    best_cost = cost;
  }
};

// One object serves one thread and one problem.
class Improver {
 public:
  virtual ~Improver() = default;
  // Continues until the slice is spent. The walk must have started.
  virtual void improve(Walk& walk, Evaluator& evaluator, const BudgetSlice& slice,
                       const Progress& progress, Rng& rng) = 0;
};

}  // namespace tutti

#endif  // TUTTI_SEARCH_WALK_WALK_H_
