// Counters of the processor by perf_event_open: cycles, instructions, cache misses, stalls. Each is
// tried and listed only if it opens: virtual machines often have none. Without the right to see
// others, or without any, those of this process alone, with what the kernel counts itself.

#ifndef TUTTI_TELEMETRY_PERF_H_
#define TUTTI_TELEMETRY_PERF_H_

#include <memory>

#include "tutti/telemetry/clock.h"
#include "tutti/telemetry/cores.h"
#include "tutti/telemetry/source.h"

namespace tutti {

// Fails (failed) where no event at all can be opened.
Result<std::unique_ptr<CounterSource>> make_perf_source(const Machine& machine, Clock clock,
                                                        CoresAre what = CoresAre::cores);

}  // namespace tutti

#endif  // TUTTI_TELEMETRY_PERF_H_
