#include "tutti/trace/check.h"

#include "tutti/trace/check_rules.h"

namespace tutti {

// The rules, in the order in which they are looked at:
//   shape         graph, machine, ids, slots, times; every op once            check_shape.cc
//   ops           device, run time, placed, operands, colocation, makespan    check_ops.cc
//   lanes         slots, strict order                                         check_ops.cc
//   transfers     home, route, hops, given times, once per memory             check_transfers.cc
//   channels      capacity, bandwidth                                         check_transfers.cc
//   memory        limits                                                      check_memory.cc
//   conservation  slots, unplaced ops; first come in the released model       check_waiting.cc
//                 links                                                     check_waiting_hops.cc
//
// A trace whose shape is wrong is judged no further: the rest would be about nothing.
std::vector<std::string> check_trace(const Problem& problem, const Trace& trace,
                                     const TraceRules& rules) {
  Verdict verdict(rules.limit);
  trace_rules::check_shape(problem, trace, rules, verdict);
  if (!verdict.good()) return verdict.take();

  const Presence presence(problem, trace, {.released = rules.released});
  const trace_rules::Case trial{problem, trace, rules, presence};
  trace_rules::check_ops(trial, verdict);
  trace_rules::check_lanes(trial, verdict);

  if (rules.released) {
    // Drawn transfer times are not recorded, so nobody can say when an operand was there.
    if (trace.sampled && !problem.costs.transfer_noise().none()) return verdict.take();
    trace_rules::check_waiting_ops(trial, {}, verdict);
    trace_rules::check_first_come(trial, verdict);
    return verdict.take();
  }

  const std::vector<ChannelUse> channels = channel_use(problem, trace);
  trace_rules::check_transfers(trial, verdict);
  trace_rules::check_channels(trial, channels, verdict);
  trace_rules::check_waiting_hops(trial, channels, verdict);
  if (problem.has_memory_limits()) {
    trace_rules::check_memory(trial, memory_use(problem, trace, presence), verdict);
    trace_rules::check_waiting_ops(trial, memory_use(problem, trace, presence, {.hold_room = true}),
                                   verdict);
  } else {
    trace_rules::check_waiting_ops(trial, {}, verdict);
    trace_rules::check_unplaced_ops(trial, verdict);
  }
  return verdict.take();
}

}  // namespace tutti
