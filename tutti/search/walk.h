// A Walk is where one local search stands: its plan, what that costs, and the best it has met. An
// Improver takes it further.

#ifndef TUTTI_SEARCH_WALK_H_
#define TUTTI_SEARCH_WALK_H_

#include "tutti/base/random.h"
#include "tutti/search/evaluator.h"
#include "tutti/search/progress.h"

namespace tutti {

struct Walk {
  Plan plan;
  double cost = kNoPlan;
  Plan best;
  double best_cost = kNoPlan;

  // Takes up a plan of known cost.
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
  // Goes on until the leg is over. The walk must have started.
  virtual void improve(Walk& walk, Evaluator& evaluator, const Leg& leg, const Progress& progress,
                       Rng& rng) = 0;
};

}  // namespace tutti

#endif  // TUTTI_SEARCH_WALK_H_
