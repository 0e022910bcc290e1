// The machine that all ranks are together: a host for each, with its cores as devices, and the
// network between them.

#ifndef TUTTI_RUNTIME_STARPU_DISCOVER_H_
#define TUTTI_RUNTIME_STARPU_DISCOVER_H_

#include "tutti/machine/machine.h"
#include "tutti/runtime/starpu/ranks.h"

namespace tutti {

// Collective; the same machine at every rank. A device for each core that a rank may use, or, where
// these are more than StarPU has workers, as many devices of several cores. Hosts hang on one
// network, each by a link whose latency and bandwidth come from messages to and from rank 0; to two
// digits, so that two measurements often agree. If you know the network better, write the machine
// to a file (tutti machine discover --ranks) and state it there. A rank alone has no network.
Result<Machine> discover_ranks(StarpuRanks& ranks);

}  // namespace tutti

#endif  // TUTTI_RUNTIME_STARPU_DISCOVER_H_
