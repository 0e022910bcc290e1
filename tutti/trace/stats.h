// What a trace amounts to: makespan, how busy each device and channel was, bytes moved, why devices
// were idle, peak memory.

#ifndef TUTTI_TRACE_STATS_H_
#define TUTTI_TRACE_STATS_H_

#include <cstdint>
#include <vector>

#include "tutti/plan/problem.h"
#include "tutti/trace/trace.h"

namespace tutti {

struct DeviceStats {
  double busy_share = 0;  // busy slot time over slots x makespan
  int64_t ops = 0;
  // Idle slot time, divided by reason; the five shares and busy_share sum to 1. Where several
  // reasons hold, memory goes before order, order before data, and data before ops.
  double waiting_for_data = 0;    // an op placed here waits for a transfer under way or queued
  double waiting_for_ops = 0;     // an op placed here waits for its producers to finish
  double waiting_for_memory = 0;  // an op placed here has its operands but no room
  double waiting_for_order = 0;   // an op placed here has all it needs, but another goes first
  double finished = 0;            // nothing placed here is left to start
};

struct TraceStats {
  Duration makespan{0};
  int64_t bytes_moved = 0;  // every transfer once, whatever its number of hops
  int64_t transfer_count = 0;
  std::vector<DeviceStats> devices;
  std::vector<double> channel_busy_share;  // by channel: share of the makespan it carried anything
  std::vector<int64_t>
      peak_memory_bytes;  // by memory; empty for the released model, which has none
};

TraceStats trace_stats(const Problem& problem, const Trace& trace);

}  // namespace tutti

#endif  // TUTTI_TRACE_STATS_H_
