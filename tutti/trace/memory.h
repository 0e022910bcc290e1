// How many bytes each memory held at each instant of a run, worked out from the trace alone:
//
// - An op's outputs and transient bytes are taken in its device's memory when it starts; the
//   transient ones are given back when it finishes.
// - The copy of a value in the memory where it was made is given back when every op that reads it
//   there has finished and every transfer of it has ended; an online run also waits until every
//   reader has been placed. A value that nothing reads stays to the end.
// - The copy that a transfer brings is taken when its first hop starts, and given back when every
//   op that reads it there has finished.
// - A graph input that is in a memory from the start counts there only if an op reads it there,
//   from the time the first such op is placed (0 in the run of a plan) until the last has finished.
// - A weight is never given back.

#ifndef TUTTI_TRACE_MEMORY_H_
#define TUTTI_TRACE_MEMORY_H_

#include <cstdint>
#include <vector>

#include "tutti/plan/intervals.h"
#include "tutti/plan/problem.h"
#include "tutti/trace/least_of.h"
#include "tutti/trace/presence.h"
#include "tutti/trace/trace.h"

namespace tutti {

// Bytes in use over time: bytes[i] from time[i] until time[i + 1], the last without end. The times
// ascend from 0. What happens at one instant counts at once, so that an op may take what another
// gives back.
struct MemoryUse {
  std::vector<Duration> time;
  std::vector<int64_t> bytes;

  int64_t peak() const;
};

struct MemoryRules {
  // Counts a copy from the time its transfer could have started. A runtime may set room aside for a
  // transfer that waits for a link, and no trace shows when: this is the most it may have set
  // aside.
  bool hold_room = false;
};

// By memory.
std::vector<MemoryUse> memory_use(const Problem& problem, const Trace& trace,
                                  const Presence& presence, const MemoryRules& rules = {});

// The bytes an op takes when it starts.
int64_t bytes_at_start(const Graph& graph, OpId op);

// Answers "the least bytes in use during an interval" in logarithmic time. Keeps a reference.
class LeastUse {
 public:
  explicit LeastUse(const MemoryUse& use) : time_(use.time), least_(use.bytes) {}
  // Requires an interval of some length, from 0 on.
  int64_t during(Interval interval) const;

 private:
  const std::vector<Duration>& time_;
  LeastOf least_;
};

}  // namespace tutti

#endif  // TUTTI_TRACE_MEMORY_H_
