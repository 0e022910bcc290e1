#include "tutti/search/exact.h"

#include <algorithm>
#include <chrono>

#include "tutti/plan/bound.h"
#include "tutti/plan/check/check.h"
#include "tutti/search/auto.h"
#include "tutti/search/exact/all_schedules.h"
#include "tutti/search/exact/free_of_contention.h"
#include "tutti/search/exact/work_conserving.h"

namespace tutti {
namespace {

// Shares of a wall clock. The rest is for the answer.
constexpr double kKnownUntil = 0.3;
constexpr double kFirstOfTwoUntil = 0.65;
constexpr double kUntil = 0.97;
// Policies get this long even if the share is shorter: an answer that a quick policy beats is none.
constexpr std::chrono::milliseconds kKnownAtLeast{250};
constexpr int64_t kKnownEvaluations = 2000;

// Steps that take a second or two: one costs as much as the graph is large.
int64_t default_steps(const Problem& problem) {
  constexpr int64_t kOpsToLookAt = 40'000'000;
  return std::clamp<int64_t>(kOpsToLookAt / std::max(1, problem.graph.size()), 10'000, 4'000'000);
}

class Solving {
 public:
  Solving(const Problem& problem, const Budget& budget)
      : problem_(problem), budget_(budget), progress_(budget) {}

  // The best plan of policies and a short search, and the lower bound. Fails if the problem is not
  // one for the exact methods.
  Result<ExactStart> known() const {
    if (const Result<void> fit = require_no_contention(problem_); !fit) return fit.error();
    if (const Result<void> few = require_few_ops(problem_, kMostExactOps); !few) return few.error();
    const Duration bound = lower_bounds(problem_).strongest();
    AutoSettings settings;
    settings.lower_bound = bound;
    settings.budget.evaluations = kKnownEvaluations;
    settings.budget.stop = budget_.stop;
    if (progress_.timed()) {
      const Stop stop = progress_.until(kKnownUntil);
      settings.budget.stop = stop.comes_within(kKnownAtLeast)
                                 ? budget_.stop.by(Stop::Clock::now() + kKnownAtLeast)
                                 : stop;
    }
    Result<AutoResult> found = plan_auto(problem_, settings);
    if (!found) return found.error();
    Plan plan = std::move(found->plan);
    plan.strict_order.clear();  // or it would not be work-conserving
    plan.provenance = {};
    const std::optional<Duration> makespan = give_timeline(problem_, {}, {}, plan);
    if (!makespan) return ExactStart{.lower_bound = bound};
    return ExactStart{.plan = std::move(plan), .makespan = *makespan, .lower_bound = bound};
  }

  Budget until(double share) const {
    Budget budget{
        .wall_clock = {}, .evaluations = budget_.evaluations, .stop = progress_.until(share)};
    if (!budget.evaluations && !progress_.timed()) budget.evaluations = default_steps(problem_);
    return budget;
  }

  // As it is if it stands up to a replay; else what was known before, which is not proven.
  Result<ExactPlan> verified(Result<ExactPlan> exact, const ExactStart& start) const {
    if (!exact) return exact;
    Plan replayed = exact->plan;
    const std::optional<Duration> makespan = give_timeline(problem_, {}, {}, replayed);
    const bool stands = makespan == exact->makespan && exact->makespan <= start.makespan &&
                        check_plan(problem_, exact->plan, 1).empty();
    if (stands) return exact;
    if (!start.plan) return failed("the exact method's plan does not stand up to a simulation");
    return ExactPlan{.plan = *start.plan, .makespan = start.makespan, .proven = false};
  }

 private:
  const Problem& problem_;
  const Budget budget_;
  const Progress progress_;
};

}  // namespace

Result<ExactPlan> solve_work_conserving(const Problem& problem, const Budget& budget) {
  const Solving solving(problem, budget);
  const Result<ExactStart> known = solving.known();
  if (!known) return known.error();
  return solving.verified(best_work_conserving(problem, solving.until(kUntil), *known), *known);
}

Result<ExactAnswer> solve_exactly(const Problem& problem, const Budget& budget) {
  const Solving solving(problem, budget);
  const Result<ExactStart> known = solving.known();
  if (!known) return known.error();
  Result<ExactPlan> first = solving.verified(
      best_work_conserving(problem, solving.until(kFirstOfTwoUntil), *known), *known);
  if (!first) return first.error();
  const ExactStart better{
      .plan = first->plan, .makespan = first->makespan, .lower_bound = known->lower_bound};
  Result<ExactPlan> any =
      solving.verified(best_schedule(problem, solving.until(kUntil), better), better);
  return ExactAnswer{.work_conserving = std::move(*first),
                     .any = std::move(any),
                     .lower_bound = known->lower_bound};
}

}  // namespace tutti
