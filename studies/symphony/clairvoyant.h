// What could be done with full knowledge: the best schedule found for given
// arrivals, with the very luck (noise and unknown load) that a run of the simulated cluster had.
// Deciders are measured against it.
//
// A schedule is searched as a Script: for each op of each job a device and a key. Ready ops go to
// their device by rising key as soon as it has a slot; contexts of FPGAs are configured for an op
// when it is ready or, if the script says so, as soon as its producers are launched. Waiting for
// something better is expressed by devices and keys, not by idle time, so that even all scripts
// together are not all schedules: the best is "best found", also where it is exhaustive.

#ifndef TUTTI_STUDIES_SYMPHONY_CLAIRVOYANT_H_
#define TUTTI_STUDIES_SYMPHONY_CLAIRVOYANT_H_

#include <span>
#include <vector>

#include "tutti/runtime/sim/jobs/job_simulator.h"

namespace tutti {

struct ScriptedOp {
  DeviceId device{};
  double key = 0;
  bool prepares = false;  // its context is configured before it is ready
};
using Script = std::vector<std::vector<ScriptedOp>>;  // by job and op

// What a recorded run did, as a script: devices, and the times at which ops began as keys.
Script script_of(const std::vector<JobRecord>& jobs);

struct Clairvoyant {
  std::vector<JobRecord> jobs;
  double mean_slowdown = 0;
  int64_t evaluations = 0;
  bool exhaustive = false;
};

struct ClairvoyantOptions {
  int64_t evaluations = 2000;
  uint64_t seed = 1;  // of the search; the luck is that of the run
};

// The least mean slow-down over all jobs, by annealing from the best of `starts`, which must be
// recorded runs of the same arrivals and luck, at least one; never worse than any of them. Leaves
// the simulator at the end of some run.
Clairvoyant find_clairvoyant(JobSimulator& sim, const std::vector<Arrival>& arrivals, uint64_t luck,
                             std::span<const JobsRecord> starts, const ClairvoyantOptions& options);

// All scripts of one job that is alone: every placement, every order. Fails (invalid_input) if
// there are more than `most`.
Result<Clairvoyant> find_exhaustively(JobSimulator& sim, const std::shared_ptr<const Job>& job,
                                      uint64_t luck, int64_t most = 100'000);

}  // namespace tutti

#endif  // TUTTI_STUDIES_SYMPHONY_CLAIRVOYANT_H_
