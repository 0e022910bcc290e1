// When exclusive channels were full, worked out from the hops of a trace, once for each channel
// that is asked about. Keeps references; one object serves one thread.

#ifndef TUTTI_TRACE_FULL_TIMES_H_
#define TUTTI_TRACE_FULL_TIMES_H_

#include <optional>
#include <vector>

#include "tutti/plan/intervals.h"
#include "tutti/trace/channels.h"

namespace tutti {

class FullTimes {
 public:
  FullTimes(const Machine& machine, const std::vector<ChannelUse>& channels)
      : machine_(machine), channels_(channels), full_(channels.size()) {}

  // When every exclusive channel of the hop had room; always for no hop. Apart.
  std::vector<Interval> room_on(const Hop* hop);

  // The earliest time in `window` from which on, to its end, some exclusive channel of the hop was
  // full at every moment; the window's end if all had room just before it.
  Duration full_since(const Hop& hop, Interval window);

 private:
  const std::vector<Interval>& full_times(ChannelId id);

  const Machine& machine_;
  const std::vector<ChannelUse>& channels_;
  std::vector<std::optional<std::vector<Interval>>> full_;  // by channel, apart
};

}  // namespace tutti

#endif  // TUTTI_TRACE_FULL_TIMES_H_
