// A race finds the best of some plans by few real runs, in turns (turns.h). A plan that is certain
// to be slower than the best drops out (successive elimination; Even-Dar, Mannor, Mansour; JMLR
// 2006). One plan alone runs once.

#ifndef TUTTI_CALIBRATE_MEASURE_RACE_H_
#define TUTTI_CALIBRATE_MEASURE_RACE_H_

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tutti/base/stop.h"
#include "tutti/runtime/runtime.h"

namespace tutti {

struct RaceSettings {
  int64_t runs = 64;       // in all; the last turn may be short
  int64_t most_each = 10;  // of one plan
  // How many standard errors of the difference make "certain". Of logarithms of time, whose spread
  // is taken to be the same for all plans.
  double certain = 2.5;
  uint64_t seed = 1;  // of the orders
  Stop stop{};
  // Sees each run that succeeded.
  std::function<void(size_t plan, const Trace& trace)> on_run{};
};

struct Raced {
  std::vector<double> times_ns{};  // none: it could not be run
  std::string refusal{};           // why
  // The geometric mean; infinite without a run.
  double mean_ns() const;
};

struct RaceResult {
  std::vector<Raced> plans;  // as they were given
  size_t best = 0;           // the least mean among those that went to the end
  int64_t runs = 0;
  double spread = 0;  // standard deviation of the logarithm of one run's time, over all plans
};

// Fails (as the runtime did) if no plan could be run, and when stopped before the first run ended.
// A plan that fails drops out; if all fail, or a device is lost, so does the race.
Result<RaceResult> race(Runtime& runtime, const Problem& problem, std::span<const Plan> plans,
                        const RaceSettings& settings);

}  // namespace tutti

#endif  // TUTTI_CALIBRATE_MEASURE_RACE_H_
