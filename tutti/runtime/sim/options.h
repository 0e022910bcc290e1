// How a simulated run goes.

#ifndef TUTTI_RUNTIME_SIM_OPTIONS_H_
#define TUTTI_RUNTIME_SIM_OPTIONS_H_

#include <cstdint>

#include "tutti/base/stop.h"
#include "tutti/base/time.h"
#include "tutti/trace/ready_order.h"

namespace tutti {

struct SimOptions {
  ReadyOrder order = ReadyOrder::priority;
  uint64_t seed = 0;    // for random order and sampled durations
  bool sample = false;  // draw durations from the costs' noise; false: means
  bool record = false;  // keep spans, so that trace() can be asked for
  // Stop, with kNever for a makespan, as soon as it is certain to be longer than this. A search
  // rejects most candidates; it need not see their ends.
  Duration give_up_beyond{kNever};
  Stop stop{};  // the same from then on: the caller has no time left for the makespan
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_SIM_OPTIONS_H_
