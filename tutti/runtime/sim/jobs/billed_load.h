// The rate of arrivals by which Symphony is trained and the published studies were run. It bills
// every operand of every op as a transfer from the host's memory, also one that is on the device
// already: a billed load of 1 is about 0.9 of the saturation of the cluster of
// tutti/plan/world/default_cluster.h, and on some machines a third of it. It is kept so that
// published settings and figures keep their meaning. Nothing else uses it: see
// tutti/runtime/sim/jobs/saturation.h.

#ifndef TUTTI_RUNTIME_SIM_JOBS_BILLED_LOAD_H_
#define TUTTI_RUNTIME_SIM_JOBS_BILLED_LOAD_H_

#include <memory>
#include <span>

#include "tutti/plan/world/cluster.h"

namespace tutti {

// Jobs per second by that bill: of all ways to divide each op between devices, the best by the
// slots and shared resources it leaves busiest (a linear program, solved to about one percent by
// multiplicative weights; Arora, Hazan, Kale 2012). Reconfiguration, dependencies and noise are
// left out.
double billed_jobs_per_s(const Cluster& cluster, std::span<const std::shared_ptr<const Job>> jobs);

// Jobs per second at a billed load. 0.6 is the share of the bill that a decider was seen to keep up
// with on the cluster of tutti/plan/world/default_cluster.h.
inline double billed_load_rate(double load, double billed_jobs_per_s) {
  return load * 0.6 * billed_jobs_per_s;
}

}  // namespace tutti

#endif  // TUTTI_RUNTIME_SIM_JOBS_BILLED_LOAD_H_
