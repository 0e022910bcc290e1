// The run of the small plan in the small world (plan/testing.h), by hand. The link from gpu0 to the
// host is busy with a until 320, so b, made at 310, waits; d starts at 540 and the run ends at
// 1150.

#ifndef TUTTI_TRACE_TESTING_H_
#define TUTTI_TRACE_TESTING_H_

#include "tutti/plan/testing.h"
#include "tutti/trace/trace.h"

namespace tutti::testing {

inline constexpr ValueId kX{0}, kFromA{2}, kFromB{3}, kFromD{5};
inline constexpr MemoryId kHost{0}, kOnGpu0{1}, kOnGpu1{2};
// Where the transfers stand in small_trace.
enum SmallTransfer { kMoveX, kMoveA0, kMoveA1, kMoveB0, kMoveB1, kMoveD };

inline Trace empty_trace(const Problem& problem) {
  Trace trace;
  trace.runtime = runtime_from_text("by hand");
  trace.graph_fingerprint = problem.graph.fingerprint();
  trace.machine_fingerprint = problem.machine.fingerprint();
  return trace;
}

inline Trace small_trace(const Problem& problem) {
  Trace trace = empty_trace(problem);
  trace.seed = UINT64_MAX;
  trace.makespan = ns(1150);
  trace.ops = {{kA, kGpu0, 0, ns(110), ns(210)},
               {kB, kGpu0, 0, ns(210), ns(310)},
               {kC, kGpu1, 0, ns(430), ns(530)},
               {kD, kGpu1, 0, ns(540), ns(640)},
               {kE, kCpu0, 0, ns(750), ns(1150)}};
  trace.transfers = {{kX, kHost, kOnGpu0, 0, false, ns(0), ns(110)},
                     {kFromA, kOnGpu0, kOnGpu1, 0, false, ns(210), ns(320)},
                     {kFromA, kOnGpu0, kOnGpu1, 1, false, ns(320), ns(430)},
                     {kFromB, kOnGpu0, kOnGpu1, 0, false, ns(320), ns(430)},
                     {kFromB, kOnGpu0, kOnGpu1, 1, false, ns(430), ns(540)},
                     {kFromD, kOnGpu1, kHost, 0, false, ns(640), ns(750)}};
  return trace;
}

// Shifts everything from `from` on by `by`: the run stood still for that long.
inline void stand_still(Trace& trace, Duration from, Duration by) {
  for (OpSpan& span : trace.ops) {
    if (span.start < from) continue;
    span.start += by;
    span.finish += by;
  }
  for (TransferSpan& span : trace.transfers) {
    if (span.start < from) continue;
    span.start += by;
    span.finish += by;
  }
  trace.makespan += by;
}

}  // namespace tutti::testing

#endif  // TUTTI_TRACE_TESTING_H_
