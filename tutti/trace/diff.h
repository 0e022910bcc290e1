// What sets two runs of the same graph apart: how long they took, what they moved, which ops ran
// elsewhere, and which came earlier or later.

#ifndef TUTTI_TRACE_DIFF_H_
#define TUTTI_TRACE_DIFF_H_

#include <vector>

#include "tutti/plan/problem.h"
#include "tutti/trace/trace.h"

namespace tutti {

struct OpDifference {
  OpId op;
  DeviceId device[2];
  Duration finish[2];
};

struct TraceDiff {
  Duration makespan[2];
  int64_t bytes_moved[2] = {0, 0};
  int64_t transfers[2] = {0, 0};
  std::vector<double> busy_share[2];  // by device
  std::vector<OpDifference> moved;    // on another device; the longest run time first
  std::vector<OpDifference> retimed;  // on the same device; the largest change of finish first
};

// Both traces must be of the problem's graph and hold every op.
TraceDiff diff_traces(const Problem& problem, const Trace& first, const Trace& second);

}  // namespace tutti

#endif  // TUTTI_TRACE_DIFF_H_
