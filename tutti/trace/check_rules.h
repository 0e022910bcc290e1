// The rules of check_trace, gathered by what they are about. Only trace/check.cc calls them; those
// after check_shape may take for granted that every op ran once and that every id exists.

#ifndef TUTTI_TRACE_CHECK_RULES_H_
#define TUTTI_TRACE_CHECK_RULES_H_

#include <vector>

#include "tutti/plan/verdict.h"
#include "tutti/trace/channels.h"
#include "tutti/trace/check.h"
#include "tutti/trace/memory.h"
#include "tutti/trace/presence.h"

namespace tutti::trace_rules {

// What the rules look at.
struct Case {
  const Problem& problem;
  const Trace& trace;
  const TraceRules& rules;
  const Presence& presence;

  // Whether what has that noise was drawn, so that it need not take its mean.
  bool drawn(const Noise& noise) const { return trace.sampled && !noise.none(); }
};

// The shortest and the longest time that something may take.
struct TimeRange {
  Duration least{0};
  Duration most{0};

  bool holds(Duration time) const { return least <= time && time <= most; }
};

// Of something whose mean and noise are these: the mean alone, or what a draw can reach.
TimeRange possible_times(const Case& trial, Duration mean, const Noise& noise);

// The trace is of this graph and machine; every op ran once; ids, slots and times make sense, and
// are all 0 in a run of no time.
void check_shape(const Problem& problem, const Trace& trace, const TraceRules& rules,
                 Verdict& verdict);

// Each op ran where it was planned and allowed, for as long as it costs, after it was placed and
// with all operands there; colocation groups together; the makespan is the last finish; durations
// were drawn only if the costs have noise.
void check_ops(const Case& trial, Verdict& verdict);

// No two ops share a slot at one time; the strict order of each device was kept.
void check_lanes(const Case& trial, Verdict& verdict);

// Each value went once, from its home, along its route, hop after hop, to memories that needed it.
void check_transfers(const Case& trial, Verdict& verdict);

// No exclusive channel carried more transfers than its capacity, no shared one more bytes than its
// bandwidth.
void check_channels(const Case& trial, const std::vector<ChannelUse>& channels, Verdict& verdict);

// Each hop over shared channels ended just when its fair share of them had moved its bytes: no
// channel idled, and none was divided unfairly. Requires that transfers took their mean times.
void check_shares(const Case& trial, Verdict& verdict);

// No memory held more than its limit.
void check_memory(const Case& trial, const std::vector<MemoryUse>& memories, Verdict& verdict);

// For the rules of work conservation `memories` is the most that may have been in use: a wait is
// excused only while even that left too little.

// Work conservation: no slot was free while an op placed there was ready and had memory, and was
// next where a strict order holds.
void check_waiting_ops(const Case& trial, const LeastUses& memories, Verdict& verdict);

// Work conservation of an online policy: but for pauses, no ready op was left unplaced while a
// device that it may use had memory for it and a slot that no placed op claimed.
void check_unplaced_ops(const Case& trial, const LeastUses& memories, Verdict& verdict);

// Work conservation of links: no hop waited while all of its exclusive channels had room and, if it
// is the first of its transfer, the memory it goes to had room for the copy.
void check_waiting_hops(const Case& trial, FullTimes& full_times, const LeastUses& memories,
                        Verdict& verdict);

// Where the order of ready ops is recorded as the plan's priority: no op started while one of
// smaller priority value was ready on its device and had memory. A strict order goes before it.
void check_priority(const Case& trial, const LeastUses& memories, Verdict& verdict);

// The released model: ops on one device start in the order in which they became ready.
void check_first_come(const Case& trial, Verdict& verdict);

}  // namespace tutti::trace_rules

#endif  // TUTTI_TRACE_CHECK_RULES_H_
