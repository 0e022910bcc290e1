// How a simulated run goes.

#ifndef TUTTI_RUNTIME_SIM_OPTIONS_H_
#define TUTTI_RUNTIME_SIM_OPTIONS_H_

#include <cstdint>

#include "tutti/base/stop.h"
#include "tutti/base/time.h"
#include "tutti/trace/ready_order.h"

namespace tutti {

class RememberedRun;

// Repeated passes (passes.h): the graph is that of several passes, of so many ops each, in the
// order of their numbers. A pass begins, and its inputs set out, when the pass `in_flight` before
// it and all earlier ones have ended. For runs of plans that are not recorded: traces know nothing
// of it.
struct PassWindow {
  int32_t ops = 0;  // 0: the graph is one pass
  int32_t in_flight = 1;
};

struct SimOptions {
  ReadyOrder order = ReadyOrder::priority;
  uint64_t seed = 0;    // for random order and sampled durations
  bool sample = false;  // draw durations from the costs' noise; false: means
  bool record = false;  // keep spans, so that trace() can be asked for
  // Stop, with kNever for a makespan, as soon as it is certain to be longer than this. A search
  // rejects most candidates; it need not see their ends.
  Duration give_up_beyond{kNever};
  // Of the same scenario; used by runs of plans that are not recorded. Null: none.
  RememberedRun* remembered = nullptr;
  Stop stop{};  // the same from then on: the caller has no time left for the makespan
  PassWindow window{};
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_SIM_OPTIONS_H_
