// The rules of check_trace, gathered by what they are about. Only trace/check.cc calls them; those
// after check_shape may take for granted that every op ran once and that every id exists.

#ifndef TUTTI_TRACE_CHECK_RULES_H_
#define TUTTI_TRACE_CHECK_RULES_H_

#include <vector>

#include "tutti/plan/check/verdict.h"
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

// Each of these begins the rules that it applies in the verdict, and sets aside what it cannot
// apply; their names stand in quotes.

// "identity", "shape": the trace is of this graph and machine; every op ran once; ids, slots and
// times make sense. Of "records": what the runtime's own kind of trace has none of, it has not.
void check_shape(const Problem& problem, const Trace& trace, const TraceRules& rules,
                 Verdict& verdict);

// "records": durations were drawn only if the costs have noise, and of no real run; plans were not
// placed online; only real runs were measured; only commands have files for values.
void check_records(const Case& trial, Verdict& verdict);

// "placement", "colocation", "run times", "placing", "operands", "makespan": each op ran where it
// was planned and allowed, for as long as it costs, after it was placed and with all operands
// there; colocation groups together; the makespan is the last finish.
void check_ops(const Case& trial, Verdict& verdict);

// "slots", "strict order": no two ops share a slot at one time; the strict order of each device was
// kept.
void check_lanes(const Case& trial, Verdict& verdict);

// "barriers": where all devices waited for each other after each level, none began the next sooner.
void check_barriers(const Case& trial, Verdict& verdict);

// "speed": of a real run that was read from a file, each op, each transfer and the whole took at
// least the share of its cost that check.h names.
void check_speed(const Case& trial, Verdict& verdict);

// "transfers", "transfer times": each value went once, from its home, along its route, hop after
// hop, to memories that needed it.
void check_transfers(const Case& trial, Verdict& verdict);

// "streams", where the plan says which weights are kept: each copy of another one was read, stayed
// until its readers had finished, and all copies in a memory fitted its stream buffer; no kept
// weight was sent, unless the run was to load it.
void check_streams(const Case& trial, Verdict& verdict);

// "channels": no exclusive channel carried more transfers than its capacity.
void check_channels(const Case& trial, const std::vector<ChannelUse>& channels, Verdict& verdict);

// "bandwidth": no shared channel carried more bytes than its bandwidth. Requires that transfers
// took their mean times.
void check_bandwidths(const Case& trial, const std::vector<ChannelUse>& channels, Verdict& verdict);

// "shares": each hop over shared channels ended just when its fair share of them had moved its
// bytes: no channel idled, and none was divided unfairly. Requires that transfers took their mean
// times.
void check_shares(const Case& trial, Verdict& verdict);

// "memory": no memory held more than its limit.
void check_memory(const Case& trial, const std::vector<MemoryUse>& memories, Verdict& verdict);

// For the rules of work conservation `memories` is the most that may have been in use: a wait is
// excused only while even that left too little.

// "waiting ops": no slot was free while an op placed there was ready and had memory, and was
// next where a strict order holds.
void check_waiting_ops(const Case& trial, const LeastUses& memories, Verdict& verdict);

// "unplaced ops", work conservation of an online policy: but for pauses, no ready op was left
// unplaced while a device that it may use had memory for it and a slot that no placed op claimed.
void check_unplaced_ops(const Case& trial, const LeastUses& memories, Verdict& verdict);

// "waiting hops", work conservation of links: no hop waited while all of its exclusive channels had
// room and, if it is the first of its transfer, the memory it goes to had room for the copy.
void check_waiting_hops(const Case& trial, FullTimes& full_times, const LeastUses& memories,
                        Verdict& verdict);

// "ready order": no op started while one that goes before it was ready on its device and had
// memory: one of smaller priority value, or ready earlier (fifo), or ready later (lifo), as is
// recorded. A strict order goes before all of them.
void check_ready_order(const Case& trial, const LeastUses& memories, Verdict& verdict);

// "ready order" of the released model: ops on one device start in the order in which they became
// ready.
void check_first_come(const Case& trial, Verdict& verdict);

}  // namespace tutti::trace_rules

#endif  // TUTTI_TRACE_CHECK_RULES_H_
