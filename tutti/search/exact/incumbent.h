// The best plan that an exact method has so far, and how much it may still spend on a better one.

#ifndef TUTTI_SEARCH_EXACT_INCUMBENT_H_
#define TUTTI_SEARCH_EXACT_INCUMBENT_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "tutti/plan/plan.h"
#include "tutti/plan/policy.h"
#include "tutti/search/evaluate/progress.h"

namespace tutti {

struct ExactPlan {
  Plan plan;
  Duration makespan{kNever};
  bool proven = false;  // false: the budget ended first, and this is the best so far
};

// What is known before: a plan that a better one must beat, and a bound that none can beat.
struct ExactStart {
  std::optional<Plan> plan{};
  Duration makespan{kNever};  // of that plan in the simulator, with mean durations
  Duration lower_bound{0};
};

class Incumbent {
 public:
  // The budget's evaluations count steps: the same count gives the same plan. Its wall clock begins
  // to run.
  Incumbent(const Budget& budget, const ExactStart& start)
      : stop_(Progress(budget).until(1)),
        most_steps_(budget.evaluations.value_or(std::numeric_limits<int64_t>::max())),
        lower_bound_(start.lower_bound) {
    if (!start.plan) return;
    best_.plan = *start.plan;
    best_.makespan = start.makespan;
  }

  // Counts one step. True if no further step may be taken: the budget is spent, or nothing can be
  // better than what there is. A wall clock alone does not stop the search for the first plan,
  // which is there after a few steps for each op.
  bool over() {
    if (done_) return true;
    if (best_.makespan <= lower_bound_) {
      done_ = true;
    } else if (++steps_ > most_steps_ ||
               (found() && steps_ % kStepsBetweenLooks == 0 && stop_.now())) {
      done_ = cut_short_ = true;
    }
    return done_;
  }

  bool found() const { return best_.makespan != kNever; }
  // Only what is shorter than this is of interest.
  Duration makespan() const { return best_.makespan; }
  void improve(Duration makespan, Plan plan) {
    best_.makespan = makespan;
    best_.plan = std::move(plan);
  }

  // Call once the search has come to its end or to that of its budget.
  ExactPlan take() {
    best_.proven = found() && !cut_short_;
    return std::move(best_);
  }

 private:
  static constexpr int64_t kStepsBetweenLooks = 256;  // at the clock

  Stop stop_;
  int64_t most_steps_;
  Duration lower_bound_;
  int64_t steps_ = 0;
  bool done_ = false;
  bool cut_short_ = false;
  ExactPlan best_;
};

}  // namespace tutti

#endif  // TUTTI_SEARCH_EXACT_INCUMBENT_H_
