// The critical path of a run: what to shorten if the run is to end sooner. That of a graph, without
// devices and transfers, is in tutti/graph/analysis.h.
//
// It is found from the trace alone, walking back from the op that finished last: each span began
// when something ended, its cause: the op or transfer that brought its data, the span before it on
// its slot or channel, or one that freed memory. The walk goes from cause to cause until a span
// began without one. In the released model, which records no transfers, a producer's end is felt
// when its value arrives, and the time between counts as transfer.
//
// A search walks thousands of runs without a trace: tutti/search/evaluate/scenario_simulator.h.

#ifndef TUTTI_TRACE_CRITICAL_PATH_H_
#define TUTTI_TRACE_CRITICAL_PATH_H_

#include <cstdint>
#include <vector>

#include "tutti/plan/problem.h"
#include "tutti/trace/trace.h"

namespace tutti {

// What a span waited for. The page knows them by number.
enum class Cause : uint8_t {
  none,     // it is the first of the path
  data,     // its operand: the step before made or brought it
  slot,     // the step before ran on its slot
  channel,  // the step before held its channel
  memory,   // the step before ended in its memory at the moment it began
  unknown,  // the step before is the last cause that the trace shows, but ended too early
};

struct PathStep {
  bool is_op = true;
  int32_t span = 0;  // index into Trace::ops or Trace::transfers
  Cause cause = Cause::none;
};

struct RunCriticalPath {
  std::vector<PathStep> steps;  // first to last; none if nothing ran
  // Together they are the makespan.
  Duration in_ops{0};
  Duration in_transfers{0};
  Duration waiting{0};
};

// Requires that every id in the trace exists and that no span ends before it starts.
RunCriticalPath critical_path_of_run(const Problem& problem, const Trace& trace);

// What decided when an op began, on the critical path or not.
struct Decision {
  Cause cause = Cause::none;
  bool by_op = true;
  int32_t span = -1;  // of what it waited for, as in PathStep; -1: nothing
  Duration ready{0};  // when its operands were all there; kNever if the trace does not say
};

// Requires the same, and an index into Trace::ops.
Decision what_decided(const Problem& problem, const Trace& trace, int32_t op_span);

}  // namespace tutti

#endif  // TUTTI_TRACE_CRITICAL_PATH_H_
