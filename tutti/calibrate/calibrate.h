// Measures a machine: runs experiments in rounds, in a random order in each round, and learns from
// their traces. Each experiment starts with one warm-up run, and then runs several times in a row:
// memory is then allocated and operands are cached, as in a graph that runs again and again.
//
// The same experiments and seed give the same order, so that measuring can stop anywhere and be
// resumed.

#ifndef TUTTI_CALIBRATE_CALIBRATE_H_
#define TUTTI_CALIBRATE_CALIBRATE_H_

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tutti/base/stop.h"
#include "tutti/calibrate/experiment.h"
#include "tutti/calibrate/knowledge.h"
#include "tutti/runtime/runtime.h"

namespace tutti {

struct CalibrateOptions {
  int64_t begin = 0;  // runs that an earlier call made
  int64_t runs = 0;   // in all, earlier ones too; 0: until the stop
  uint64_t seed = 1;
  int in_a_row = 2;  // runs of an experiment in its turn
  int warm_ups = 1;  // runs before these that do not count
  Stop stop{};
  std::string when{};  // for sentences about drift
  // Called before each run.
  std::function<void(int64_t run, const Experiment& experiment)> progress{};
  // Called after each run that was learned from, with the number of all runs. With the knowledge,
  // that number is the state to resume from. An error ends measuring.
  std::function<Result<void>(int64_t runs)> keep{};
};

struct Calibrated {
  int64_t runs = 0;                     // in all, earlier ones too
  std::vector<std::string> failures{};  // experiments that could not be run, with the reason
};

// Fails if no experiment at all can be run. One that fails is left out from then on.
Result<Calibrated> calibrate(const Machine& machine, std::span<const Experiment> experiments,
                             const CanRun& can_run, Runtime& runtime, Knowledge& knowledge,
                             const CalibrateOptions& options);

// A later call may resume with experiments of the same fingerprint: the same in the same order.
uint64_t experiments_fingerprint(std::span<const Experiment> experiments);

}  // namespace tutti

#endif  // TUTTI_CALIBRATE_CALIBRATE_H_
