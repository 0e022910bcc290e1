// Measuring a machine: runs experiments, round by round in an order that is new in each round, and
// learns from their traces. An experiment that gets its turn is run once in vain, then some times
// in a row: ops then find memory that was in use before and operands that are loaded, as they do
// where a graph is run again and again.
//
// The same experiments and seed go through the same order, so that measuring can end anywhere and
// go on from there.

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
  int64_t runs = 0;   // up to so many in all; 0: until the stop
  uint64_t seed = 1;
  int in_a_row = 2;  // runs of an experiment when it is its turn
  int warm_ups = 1;  // runs before these that do not count
  Stop stop{};
  std::string when{};  // for sentences about drift
  // Called before each run.
  std::function<void(int64_t run, const Experiment& experiment)> progress{};
  // Called after each run that was learned from, with the runs in all: the knowledge and this
  // number are what to go on with. An error ends measuring.
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

// What a later call may go on with: the same experiments, in the same order.
uint64_t experiments_fingerprint(std::span<const Experiment> experiments);

}  // namespace tutti

#endif  // TUTTI_CALIBRATE_CALIBRATE_H_
