// What can be counted on this host of a machine that jobs arrive at.

#ifndef TUTTI_RUNTIME_ARRIVING_HOST_COUNTERS_H_
#define TUTTI_RUNTIME_ARRIVING_HOST_COUNTERS_H_

#include <memory>
#include <vector>

#include "tutti/machine/machine.h"
#include "tutti/telemetry/counter_feed.h"

namespace tutti {

// Reads this host's counters, divided into that machine as the local engine binds it.
std::unique_ptr<CounterFeed> read_host(const Machine& machine, const FeedOptions& options);

// Those of the machine's usual counters that this host, or a run on it, provides.
std::vector<Counter> counters_for_real(const Machine& machine, const CounterFeed& feed);

}  // namespace tutti

#endif  // TUTTI_RUNTIME_ARRIVING_HOST_COUNTERS_H_
