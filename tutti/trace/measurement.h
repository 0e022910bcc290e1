// What a real run writes into its trace, so that it is not taken for a simulated one.

#ifndef TUTTI_TRACE_MEASUREMENT_H_
#define TUTTI_TRACE_MEASUREMENT_H_

#include "tutti/trace/trace.h"

namespace tutti {

// This process, and the time on the wall. For runtimes on real devices, when a run begins.
Measurement measured_now();

}  // namespace tutti

#endif  // TUTTI_TRACE_MEASUREMENT_H_
