#include "tutti/trace/check.h"

#include "tutti/trace/check_rules.h"

namespace tutti {

TraceRules rules_for(const Trace& trace, const Plan* plan) {
  return {.plan = plan,
          .released = is_released(trace),
          .timeless = trace.runtime == "null",
          .measured = is_measured(trace)};
}

// The rules, in the order in which they are looked at:
//   shape         graph, machine, ids, slots, times; every op once            check_shape.cc
//   ops           device, run time, placed, operands, colocation, makespan    check_ops.cc
//   times         what a draw can reach                                       check_times.cc
//   lanes         slots, strict order                                         check_ops.cc
//   transfers     home, route, hops, given times, once per memory             check_transfers.cc
//   channels      capacity, bandwidth                                         check_transfers.cc
//   shares        what shared channels divide, and how fairly                 check_shares.cc
//   memory        limits                                                      check_memory.cc
//   conservation  slots; first come in the released model                     check_waiting.cc
//                 links                                                     check_waiting_hops.cc
//                 ops that an online policy left unplaced                     check_unplaced.cc
//   priority      who goes first                                              check_priority.cc
//
// Of a run on real devices, those of channels, shares, conservation and priority are left out.
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
    if (trial.drawn(problem.costs.transfer_noise())) return verdict.take();
    trace_rules::check_waiting_ops(trial, LeastUses(problem, {}), verdict);
    trace_rules::check_first_come(trial, verdict);
    return verdict.take();
  }

  trace_rules::check_transfers(trial, verdict);
  if (rules.measured) {
    if (is_of_files(trace)) return verdict.take();
    if (problem.has_memory_limits()) {
      trace_rules::check_memory(trial, memory_use(problem, trace, presence), verdict);
    }
    return verdict.take();
  }
  const std::vector<ChannelUse> channels = channel_use(problem, trace);
  trace_rules::check_channels(trial, channels, verdict);
  // What was drawn for a transfer is not recorded, so nobody can say how many bytes it stood for.
  if (!rules.timeless && !trial.drawn(problem.costs.transfer_noise())) {
    trace_rules::check_shares(trial, verdict);
  }
  FullTimes full_times(problem.machine, channels);
  std::vector<MemoryUse> most_use;
  if (problem.has_memory_limits()) {
    trace_rules::check_memory(trial, memory_use(problem, trace, presence), verdict);
    most_use = most_memory_use(problem, trace, presence, full_times);
  }
  const LeastUses memories(problem, most_use);
  trace_rules::check_waiting_hops(trial, full_times, memories, verdict);
  trace_rules::check_waiting_ops(trial, memories, verdict);
  trace_rules::check_priority(trial, memories, verdict);
  trace_rules::check_unplaced_ops(trial, memories, verdict);
  return verdict.take();
}

}  // namespace tutti
