// The simulator against reality: the same plans, simulated and really run. What counts is whether
// the simulator puts plans in the right order, above all the good ones, and how far off it is.

#ifndef TUTTI_CALIBRATE_VALIDATE_H_
#define TUTTI_CALIBRATE_VALIDATE_H_

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tutti/base/stop.h"
#include "tutti/calibrate/measure/residuals.h"
#include "tutti/costs/costs.h"
#include "tutti/plan/plan.h"
#include "tutti/plan/problem.h"
#include "tutti/runtime/runtime.h"

namespace tutti {

struct ValidatedPlan {
  std::string policy;
  Duration simulated{0};  // the mean over scenarios, where costs have noise
  Duration real{0};       // the median of several runs
  std::vector<Duration> runs{};
};

struct ValidatedGraph {
  std::string name;
  uint64_t fingerprint = 0;
  std::vector<ValidatedPlan> plans;

  // See CostSpec::Validation. The better half is that of the really shorter makespans.
  double rank_correlation() const;
  double rank_correlation_better_half() const;
  double mean_error() const;
  double bias() const;  // the mean of simulated / real - 1
  double top1_regret() const;
  // The rank correlation of one run with the median of the others, the mean over runs: no simulator
  // can do much better. 1 where there is one run of each plan.
  double agreement_of_runs() const;
};

// From when an op could start, its slot free and its operands there, until it did, on one kind of
// device. Without the first ops of runs.
struct DispatchDelays {
  std::string where;
  std::vector<double> ns;  // ascending
  double quantile(double share) const;
};

struct Validation {
  std::string machine;
  std::vector<ValidatedGraph> graphs;
  std::vector<Residual> residuals;  // by kind and place
  std::vector<DispatchDelays> delays{};

  // Means over graphs; plans are all of them.
  CostSpec::Validation summary() const;
};

struct ValidateOptions {
  int repeats = 3;    // real runs of each plan, spread over the whole time
  int scenarios = 8;  // simulated runs, where costs have noise
  uint64_t seed = 1;
  Stop stop{};  // fewer repeats; plans that were not run at all are left out
  std::function<void(int64_t run, int64_t of)> progress{};
};

// One problem with the plans to run. Both must stay.
struct ToValidate {
  const Problem* problem;
  std::span<const Plan> plans;
};

// Fails if a run does, or if no plan was run.
Result<Validation> validate(std::span<const ToValidate> cases, Runtime& reality,
                            const ValidateOptions& options);

// docs/formats/validation.md
std::string validation_to_json(const Validation& validation);

// "simulator against 240 plans of 3 graphs, really run: rank correlation 0.97 (better half 0.81),
// mean error 4.1 %, top-1 regret 0.9 %"
std::string to_text(const CostSpec::Validation& validation);

}  // namespace tutti

#endif  // TUTTI_CALIBRATE_VALIDATE_H_
