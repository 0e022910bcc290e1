// Checks the exact methods against brute force, on random problems of 3 to 7 ops within what they
// model (ops that take no time, edges with given times and with bytes, unequal devices). For each
// seed: lower bound <= best of all schedules = brute force; best work-conserving plan = enumeration
// of all runs <= auto; both plans pass the check and have the same makespan in the simulator.
// Prints every exception and a summary; exit code 1 if there is one.
//
//   exact_truth [FIRST_SEED [SEEDS]]     default: 0 10000

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <string>

#include "tutti/plan/bound.h"
#include "tutti/plan/check/check.h"
#include "tutti/search/auto.h"
#include "tutti/search/exact.h"
#include "tutti/search/exact/all_schedules.h"
#include "tutti/search/exact/brute_force_testing.h"
#include "tutti/search/exact/work_conserving.h"

namespace tutti {
namespace {

class Truth {
 public:
  void look_at(uint64_t seed) {
    seed_ = seed;
    const Problem problem = brute_force::random_problem(seed);
    ++problems_;
    const Duration runs = brute_force::best_work_conserving(problem);
    const Result<ExactPlan> alone = best_work_conserving(problem, {});
    expect(alone && alone->proven && alone->makespan == runs, "work-conserving, without a start");
    const Result<ExactAnswer> answer = solve_exactly(problem, {});
    if (!answer) return expect(false, answer.error().message);
    look_at_plan(problem, answer->work_conserving, runs, "work-conserving");
    look_at_auto(problem, runs);
    if (!brute_force::has_one_slot_each(problem)) {
      return expect(!answer->any, "several slots are not refused");
    }
    ++of_one_slot_;
    const Duration all = brute_force::best_schedule(problem);
    const Result<ExactPlan> any_alone = best_schedule(problem, {});
    expect(any_alone && any_alone->proven && any_alone->makespan == all,
           "all schedules, without a start");
    if (!answer->any) return expect(false, answer->any.error().message);
    look_at_plan(problem, *answer->any, all, "all schedules");
    expect(lower_bounds(problem).strongest() <= all, "the bound is above the optimum");
    expect(all <= runs, "waiting on purpose hurts");
    gained_by_waiting_ += all < runs;
  }

  int summarise(double seconds) const {
    fmt::print(
        "problems: {} ({} with devices of one slot), waiting on purpose helps in {}, exceptions: "
        "{}, {:.0f} s\n",
        problems_, of_one_slot_, gained_by_waiting_, exceptions_, seconds);
    return exceptions_ == 0 ? 0 : 1;
  }

 private:
  void expect(bool true_indeed, const std::string& what) {
    if (true_indeed) return;
    ++exceptions_;
    fmt::print("seed {}: {}\n", seed_, what);
  }

  void look_at_plan(const Problem& problem, const ExactPlan& exact, Duration truth,
                    const char* what) {
    expect(exact.proven, fmt::format("{}: not proven", what));
    expect(exact.makespan == truth, fmt::format("{}: {} ns where brute force has {} ns", what,
                                                exact.makespan.count(), truth.count()));
    const Result<Duration> run =
        ScenarioSimulator(problem, SimModel::physical).makespan(exact.plan, /*seed=*/0);
    expect(run && *run == exact.makespan, fmt::format("{}: the simulator disagrees", what));
    const std::vector<std::string> faults = check_plan(problem, exact.plan, 1);
    expect(faults.empty(), faults.empty() ? "" : fmt::format("{}: {}", what, faults[0]));
  }

  void look_at_auto(const Problem& problem, Duration runs) {
    AutoSettings settings;
    settings.budget.evaluations = 200;
    const Result<AutoResult> found = plan_auto(problem, settings);
    expect(found && found->makespan >= runs, "auto is below the optimum");
    if (!found) return;
    const std::vector<std::string> faults = check_plan(problem, found->plan, 1);
    expect(faults.empty(), faults.empty() ? "" : "auto: " + faults[0]);
    expect(found->plan.planned_makespan.has_value(), "auto: no timeline");
  }

  uint64_t seed_ = 0;
  int problems_ = 0;
  int of_one_slot_ = 0;
  int gained_by_waiting_ = 0;
  int exceptions_ = 0;
};

}  // namespace
}  // namespace tutti

int main(int count, char** arguments) {
  const uint64_t first = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 0;
  const uint64_t seeds = count > 2 ? std::strtoull(arguments[2], nullptr, 10) : 10'000;
  const auto begin = std::chrono::steady_clock::now();
  tutti::Truth truth;
  for (uint64_t seed = first; seed < first + seeds; ++seed) truth.look_at(seed);
  return truth.summarise(
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
}
