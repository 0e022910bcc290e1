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
// - If the run's plan says which weights with homes are kept, then those, the weights at home and
//   the stream buffer are taken for the whole run, and nothing else for such weights.

#ifndef TUTTI_TRACE_MEMORY_H_
#define TUTTI_TRACE_MEMORY_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "tutti/plan/intervals.h"
#include "tutti/plan/problem.h"
#include "tutti/trace/full_times.h"
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

// By memory.
std::vector<MemoryUse> memory_use(const Problem& problem, const Trace& trace,
                                  const Presence& presence);

// The most that a runtime may have counted as in use, which no trace shows. It may set room aside
// for a transfer that waits for its channels and for nothing else; one whose channels have room
// waits for memory, and holds none. An online run may also keep every copy until all readers of the
// value are placed.
std::vector<MemoryUse> most_memory_use(const Problem& problem, const Trace& trace,
                                       const Presence& presence, FullTimes& full_times);

// The bytes an op takes when it starts.
int64_t bytes_at_start(const Graph& graph, OpId op);

// Answers questions about the bytes in use during an interval of some length, from 0 on. Keeps a
// reference.
class LeastUse {
 public:
  explicit LeastUse(const MemoryUse& use) : use_(use), least_(use.bytes) {}
  // The least, in logarithmic time.
  int64_t during(Interval interval) const;
  // The first time at which there were no more than that many, in linear time.
  std::optional<Duration> first_at_most(Interval interval, int64_t bytes) const;

 private:
  // The entry of the use that holds at that time.
  size_t at(Duration time) const;

  const MemoryUse& use_;
  LeastOf least_;
};

// The same for every memory that has a limit. Keeps references.
class LeastUses {
 public:
  // `memories` is empty where no limit is enforced.
  LeastUses(const Problem& problem, const std::vector<MemoryUse>& memories);
  // Null if the memory has no limit.
  const LeastUse* of(MemoryId memory) const {
    return least_.empty() || !least_[memory.index] ? nullptr : &*least_[memory.index];
  }

 private:
  std::vector<std::optional<LeastUse>> least_;  // by memory
};

}  // namespace tutti

#endif  // TUTTI_TRACE_MEMORY_H_
