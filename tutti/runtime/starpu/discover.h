// The machine that all ranks are together: a host for each, with its cores as devices, and the
// network between them.

#ifndef TUTTI_RUNTIME_STARPU_DISCOVER_H_
#define TUTTI_RUNTIME_STARPU_DISCOVER_H_

#include <vector>

#include "tutti/machine/machine.h"
#include "tutti/runtime/starpu/ranks.h"

namespace tutti {

struct DiscoverOptions {
  // Cores of each rank that no device gets: a run leaves them to its messages. -1: one if there are
  // several ranks, of three cores or more.
  int reserved_cores = -1;
  // A device for each core. Otherwise a host is one device, whose cores are slots: equal workers
  // that share its queue.
  bool device_for_each_core = false;
};

// Collective; the same machine at every rank. The number of StarPU's workers is limited; if a rank
// has more cores than that, slots have several cores. The hosts are on one network, measured as
// below and rounded to two digits, so that two measurements often agree. If you know the network
// better, write the machine to a file (tutti machine discover --ranks) and state it there. A rank
// alone has no network.
Result<Machine> discover_ranks(StarpuRanks& ranks, const DiscoverOptions& options = {});

// Measured with the messages of a run (messages.h) while every core that runs ops is busy.
struct MeasuredNetwork {
  struct Link {  // between rank 0 and another
    Duration latency{0};
    double bytes_per_s = 0;  // of a single message of 1 MiB
  };
  std::vector<Link> links{};        // by rank; of rank 0: as good as the best of the others
  double together_bytes_per_s = 0;  // of all ranks, when each sends to all others at once
};

// Collective. Requires several ranks. Whole at rank 0.
MeasuredNetwork measure_network(StarpuRanks& ranks, int reserved_cores);

}  // namespace tutti

#endif  // TUTTI_RUNTIME_STARPU_DISCOVER_H_
