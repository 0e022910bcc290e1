// Plans of one problem compared by real runs, in turns. Which runtime runs them is the caller's
// choice: a run is a function here.

#ifndef TUTTI_CALIBRATE_MEASURE_COMPARE_PLANS_H_
#define TUTTI_CALIBRATE_MEASURE_COMPARE_PLANS_H_

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tutti/calibrate/measure/turns.h"
#include "tutti/plan/plan.h"
#include "tutti/plan/problem.h"
#include "tutti/runtime/local/local.h"
#include "tutti/trace/trace.h"

namespace tutti {

struct PlanToRun {
  std::string name;
  Plan plan;
  double plan_seconds = 0;
  bool bulk_synchronous = false;
  std::string scheduler{};  // of StarPU, which then decides within each host
};

// What one run of a plan came to.
struct PlanRun {
  Duration makespan{0};
  int64_t misplaced = 0;              // ops that ran on another device than planned
  std::optional<uint64_t> results{};  // fingerprint of the values that no op reads
};
using RunPlan = std::function<Result<PlanRun>(const PlanToRun& plan, const Turn& turn)>;

struct MeasuredPlan {
  std::string name;
  std::string scheduler{};
  bool bulk_synchronous = false;
  double plan_seconds = 0;
  // By the simulator; none for a run that it does not model: barriers, or a scheduler of StarPU.
  std::optional<double> predicted_ns{};
  std::vector<double> times_ns{};
  int64_t misplaced = 0;
  std::optional<uint64_t> results{};
  std::optional<Error> error{};  // why it could not be run
};

// Rows are in the order of the plans. A plan that fails is not run again. Once stopped, rows have
// the runs that had ended; a run that was stopped says nothing about its plan.
std::vector<MeasuredPlan> compare_plans(const Problem& problem, std::span<const PlanToRun> plans,
                                        const RunPlan& run, const Turns& turns);

// A run's figures. Fails (failed) if its trace breaks a rule. `obeyed` is the plan that the run had
// to follow; null: a scheduler decided.
Result<PlanRun> judged_run(const Problem& problem, const Trace& trace, const Plan* obeyed);

// Runs plans on this host; inputs are drawn by the seed.
RunPlan run_on(LocalRuntime& runtime, const Problem& problem, uint64_t seed, const Stop& stop);

}  // namespace tutti

#endif  // TUTTI_CALIBRATE_MEASURE_COMPARE_PLANS_H_
