// What each channel of the machine carried in a run, gathered from the hops of a trace.

#ifndef TUTTI_TRACE_CHANNELS_H_
#define TUTTI_TRACE_CHANNELS_H_

#include <cstdint>
#include <vector>

#include "tutti/plan/intervals.h"
#include "tutti/plan/problem.h"
#include "tutti/trace/trace.h"

namespace tutti {

struct ChannelUse {
  std::vector<Interval> spans;
  std::vector<int64_t> bytes;  // by span
};

// By channel. Given transfers hold none, and hops that no route has are left out.
std::vector<ChannelUse> channel_use(const Problem& problem, const Trace& trace);

// The hop of the machine that a span is about; null if it is given or no route has that hop.
const Hop* hop_of(const Machine& machine, const TransferSpan& span);

}  // namespace tutti

#endif  // TUTTI_TRACE_CHANNELS_H_
