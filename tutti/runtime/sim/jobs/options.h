// How a simulated cluster behaves: what is true of it, and what of that is published.

#ifndef TUTTI_RUNTIME_SIM_JOBS_OPTIONS_H_
#define TUTTI_RUNTIME_SIM_JOBS_OPTIONS_H_

#include <cstdint>
#include <vector>

#include "tutti/base/time.h"
#include "tutti/machine/counter.h"

namespace tutti {

// What a machine really carries, as a share of what it states. Only the simulator knows it.
struct HiddenTruth {
  double link = 1;  // each direction
  double switched = 1;
  double memory = 1;
  double cache = 1;
  double root = 1;
  // A memory's use is the share of the time with requests in which at least so many of them are
  // outstanding.
  double outstanding_threshold = 8;
};

// Load that no decider sees: tenants that come and go, each using one device as an op of ours
// would, of a kind that the cluster has, with all that this draws on the way: cores, memory, links,
// switches. They take no slots.
struct UnknownLoad {
  double share = 0;     // of what such an op draws, on average; 0: no tenants
  double spread = 0.5;  // share of all devices that have a tenant at some time
  int flows = 1;        // as many ops at once
  Duration mean_on{20'000'000};
  Duration mean_off{20'000'000};
};

// The engine's time in addition to deciding, on average. Slots are busy meanwhile.
struct DispatchTimes {
  Duration reaction{0};      // from a change to the decision about it, if none was being made
  Duration help{0};          // the same, if a slot has just ended an op and has none to go on with
  Duration start_idle{0};    // until an op starts in a slot that had nothing to do
  Duration start_behind{0};  // until an op starts in a slot whose last op has just ended
};

struct JobSimOptions {
  int32_t queue_depth = 0;  // how many ops may wait behind the busy slots of a device
  // If more: queues of devices that ran empty grow up to it while jobs are in the system, as those
  // of the engine do (tutti/runtime/local/jobs/options.h).
  int32_t most_queue_depth = 0;
  // From the state that a decision is made on to its effect; devices go on meanwhile. 0: none.
  Duration decision_delay{0};
  // run_jobs adds the time that the decider takes on this host. Such a run cannot be reproduced.
  bool measured_delay = false;
  DispatchTimes dispatch{};
  // What ops of each kind take, as a multiple of their costs, in the order of Cluster::kinds().
  // Deciders know the costs alone. Empty: as the costs say.
  std::vector<double> kind_factors{};
  bool noise = true;  // draw durations from the costs' noise; false: means
  HiddenTruth truth{};
  UnknownLoad unknown_load{};
  // What is published: each counter read `readings` times between decisions, each reading with a
  // normal error. None: nothing, at no cost.
  std::vector<Counter> counters{};
  int readings = 8;
  double reading_error = 0.05;  // standard deviation of one, as a share of what the machine states
  bool record = false;          // keep spans, so that traces can be asked for
};

// What a processor commonly counts: each core and accelerator busy, traffic of and waiting for each
// direction of each link and each host's memory, waiting for switches (whose traffic is not
// counted), outstanding requests of each host's memory. Nothing about root complexes and caches.
std::vector<Counter> usual_counters(const Machine& machine);

// What is hidden on the cluster of tutti/plan/world/default_cluster.h: it carries less than it
// states, and tenants that take `unknown_load` of a resource (0: none) come soon and stay about as
// long as twenty jobs do. No counters.
JobSimOptions default_job_sim_options(double unknown_load);

}  // namespace tutti

#endif  // TUTTI_RUNTIME_SIM_JOBS_OPTIONS_H_
