// The simulator of arriving jobs against reality: the same arrivals of the same jobs under the same
// policies, really run on this host and simulated. What counts is whether the simulator puts
// policies in the right order, and how far off its slow-downs are.
//
// Times of decisions and of the engine's dispatch are measured in the warm-up turns, and given to
// the simulator; the turns that count are predicted with them.
//
// Each turn has arrivals of its own, which every policy gets, so that turns are the sample of which
// intervals are made: by bootstrap over turns (Efron 1979), percentiles 2.5 and 97.5 of 2,000
// resamples.

#ifndef TUTTI_CALIBRATE_MEASURE_VALIDATE_JOBS_H_
#define TUTTI_CALIBRATE_MEASURE_VALIDATE_JOBS_H_

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tutti/calibrate/measure/compare_jobs.h"
#include "tutti/calibrate/validate.h"
#include "tutti/runtime/sim/jobs/options.h"

namespace tutti {

// A figure, and where it lies with 95 %. Without two turns both ends are the figure.
struct WithInterval {
  double value = 0;
  double low = 0;
  double high = 0;
};

struct ValidatedPolicy {
  std::string policy;
  // By turn: the mean slow-down of its jobs.
  std::vector<double> real{};
  std::vector<double> simulated{};
  // Means over turns.
  double real_jobs_in_system = 0;
  double simulated_jobs_in_system = 0;
  Duration decision_time{0};  // mean; decisions take as long in simulation
};

// How fast ops are in simulation. The speed of a shared host changes from minute to minute, and
// queues amplify it.
enum class HostSpeed : uint8_t {
  costs,    // as the costs say
  warm_up,  // times what each kind took in the warm-up turns, compared with its costs
  turn,     // times what each kind took in the turn that is simulated, under all policies together
};

struct JobsValidation {
  std::string machine;
  int jobs = 0;  // of each turn
  uint64_t seed = 0;
  std::vector<ValidatedPolicy> policies{};
  DispatchTimes dispatch{};  // of the engine; simulated with these
  HostSpeed speed = HostSpeed::costs;
  std::vector<Residual> residuals{};  // of ops and transfers in the real runs; see Residual

  size_t turns() const { return policies.empty() ? 0 : policies[0].real.size(); }
  // Of one policy: simulated / real - 1, of the means over turns.
  WithInterval error(size_t policy) const;
  WithInterval real(size_t policy) const;
  WithInterval simulated(size_t policy) const;
  // The mean of |error| over policies.
  WithInterval mean_error() const;
  // Spearman's, of the policies' mean slow-downs.
  WithInterval rank_correlation() const;
  // The rank correlation of the policies' real slow-downs in one turn with those of the other
  // turns: what one turn of reality tells about the others. 1 if there is one turn.
  double agreement_of_turns() const;
  // Pairs of policies that differ in reality (Student's t over turns, 95 %), and how many of them
  // the simulator puts in the same order.
  struct Pairs {
    int differ = 0;
    int same_order = 0;
  };
  Pairs pairs() const;
};

struct ValidateJobsOptions {
  CompareJobsOptions real{};  // turns, hidden load, what to call
  JobSimOptions simulated{};  // decision delay and dispatch are measured
  HostSpeed speed = HostSpeed::warm_up;
  // Called before each simulated run.
  std::function<void(const std::string& policy, int turn)> on_simulate{};
};

// Fails as compare_jobs does, or if a simulated run does. A turn that was stopped is left out;
// fails (failed) if none was complete.
Result<JobsValidation> validate_jobs(
    const Cluster& cluster, std::span<const NamedDecider> deciders,
    const std::vector<Counter>& counters, const CounterFeed& feed,
    const std::function<std::vector<Arrival>(uint64_t seed)>& arrivals,
    const ValidateJobsOptions& options);

// How fast jobs came; for the file.
struct ValidatedLoad {
  double load = 0;
  double jobs_per_s = 0;
  double saturation_jobs_per_s = 0;
};

// docs/formats/online-validation.md. No load: arrivals of a file.
std::string validation_to_json(const JobsValidation& validation,
                               const std::optional<ValidatedLoad>& load);

// "simulator against 6 turns of 40 jobs under 9 policies, really run: rank correlation 0.93 (0.85
// to 0.98), mean error of slow-downs 8.1 % (6.0 to 9.9 %)"
std::string to_text(const JobsValidation& validation);

}  // namespace tutti

#endif  // TUTTI_CALIBRATE_MEASURE_VALIDATE_JOBS_H_
