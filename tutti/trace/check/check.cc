#include "tutti/trace/check.h"

#include <array>

#include "tutti/trace/check/rules.h"

namespace tutti {
namespace {

// The rules, in the order in which they are looked at. A trace whose identity or shape is wrong is
// judged no further: the rest would be about nothing.
constexpr std::array kTraceRules = {
    Rule{"identity", "the trace is of this graph and machine"},            // check_shape.cc
    Rule{"shape", "every op ran once; ids, slots and times make sense"},   // check_shape.cc
    Rule{"records", "what the header says of the run can be true of it"},  // check_records.cc
    Rule{"placement", "ops ran where they were planned and allowed"},      // check_ops.cc
    Rule{"colocation", "ops that must share a device did"},                // check_ops.cc
    Rule{"run times", "each op took as long as it costs"},                 // check_ops.cc
    Rule{"placing", "no op started before it was placed"},                 // check_ops.cc
    Rule{"operands", "no op started before its operands were there"},      // check_ops.cc
    Rule{"makespan", "the run ends with its last op"},                     // check_ops.cc
    Rule{"slots", "no two ops share a slot at one time"},                  // check_ops.cc
    Rule{"strict order", "the plan's strict order was kept"},              // check_ops.cc
    Rule{"barriers", "levels of the graph ran one after another"},         // check_records.cc
    Rule{"speed", "real devices did what devices can do"},                 // check_speed.cc
    Rule{"transfers", "values went once, from home, along their routes"},  // check_transfers.cc
    Rule{"streams", "weights that are not kept came for their readers, and fitted the buffer"},
    Rule{"transfer times", "each hop took as long as it takes"},        // check_transfers.cc
    Rule{"channels", "no channel carried more transfers than it can"},  // check_transfers.cc
    Rule{"bandwidth", "no channel carried more bytes than it can"},     // check_transfers.cc
    Rule{"shares", "shared channels were divided fairly"},              // check_shares.cc
    Rule{"memory", "no memory held more than its limit"},               // check_memory.cc
    Rule{"waiting hops", "no hop waited while its channels had room"},  // check_waiting_hops.cc
    Rule{"waiting ops", "no op waited while a slot was free"},          // check_waiting.cc
    Rule{"ready order", "ready ops started in the order that is recorded"},  // check_ready_order.cc
    Rule{"unplaced ops", "no op was left unplaced while a device was free"},  // check_unplaced.cc
};

void set_aside_all(std::initializer_list<const char*> rules, const char* reason, Verdict& verdict) {
  for (const char* rule : rules) verdict.set_aside(rule, reason);
}

// The released model has neither links nor memory, and its own order.
void judge_released(const trace_rules::Case& trial, Verdict& verdict) {
  set_aside_all({"transfers", "transfer times", "channels", "bandwidth", "shares", "waiting hops"},
                "the released model has no links and records no transfers", verdict);
  verdict.set_aside("memory", "the released model has no memory");
  verdict.set_aside("streams", "the released model has no memory");
  verdict.begin("unplaced ops");  // it knows no online policies
  if (trial.drawn(trial.problem.costs.transfer_noise())) {
    set_aside_all({"operands", "waiting ops", "ready order"},
                  "transfer times were drawn and the released model does not record them: when "
                  "operands that were sent arrived is not known",
                  verdict);
    return;
  }
  trace_rules::check_waiting_ops(trial, LeastUses(trial.problem, {}), verdict);
  trace_rules::check_first_come(trial, verdict);
}

void judge_measured(const trace_rules::Case& trial, Verdict& verdict) {
  set_aside_all({"channels", "bandwidth", "shares"},
                "times are measured, and real links need not be those of the model", verdict);
  set_aside_all({"waiting ops", "waiting hops", "ready order", "unplaced ops"},
                "times are measured, and real devices need time to start what is ready", verdict);
  trace_rules::check_speed(trial, verdict);
  if (is_of_files(trial.trace)) {
    set_aside_all({"transfers", "streams", "transfer times", "memory"},
                  "the values are files: none is sent or in a memory", verdict);
    return;
  }
  trace_rules::check_transfers(trial, verdict);
  trace_rules::check_streams(trial, verdict);
  verdict.begin("memory");
  if (!trial.problem.has_memory_limits()) return;
  trace_rules::check_memory(trial, memory_use(trial.problem, trial.trace, trial.presence), verdict);
}

void judge_simulated(const trace_rules::Case& trial, Verdict& verdict) {
  const Problem& problem = trial.problem;
  trace_rules::check_transfers(trial, verdict);
  trace_rules::check_streams(trial, verdict);
  const std::vector<ChannelUse> channels = channel_use(problem, trial.trace);
  trace_rules::check_channels(trial, channels, verdict);
  if (trial.rules.timeless) {
    set_aside_all({"bandwidth", "shares"}, "a run of the null runtime takes no time", verdict);
  } else if (trial.drawn(problem.costs.transfer_noise())) {
    set_aside_all({"bandwidth", "shares"},
                  "transfer times were drawn: how many bytes each stood for is not known", verdict);
  } else {
    trace_rules::check_bandwidths(trial, channels, verdict);
    trace_rules::check_shares(trial, verdict);
  }
  FullTimes full_times(problem.machine, channels);
  std::vector<MemoryUse> most_use;
  verdict.begin("memory");
  if (problem.has_memory_limits()) {
    trace_rules::check_memory(trial, memory_use(problem, trial.trace, trial.presence), verdict);
    most_use = most_memory_use(problem, trial.trace, trial.presence, full_times);
  }
  const LeastUses memories(problem, most_use);
  trace_rules::check_waiting_hops(trial, full_times, memories, verdict);
  trace_rules::check_waiting_ops(trial, memories, verdict);
  if (trial.trace.weights.stated() && trial.trace.order != ReadyOrder::priority) {
    verdict.set_aside("ready order",
                      "ops may share a streamed weight: when each could read it is "
                      "not recorded");
  } else {
    trace_rules::check_ready_order(trial, memories, verdict);
  }
  trace_rules::check_unplaced_ops(trial, memories, verdict);
}

}  // namespace

TraceRules rules_for(const Trace& trace, const Plan* plan) {
  return {.plan = plan,
          .released = is_released(trace),
          .timeless = is_null(trace),
          .measured = is_measured(trace)};
}

std::span<const Rule> trace_rule_table() {
  return kTraceRules;
}

Judgement judge_trace(const Problem& problem, const Trace& trace, const TraceRules& rules) {
  Verdict verdict(rules.limit, kTraceRules);
  trace_rules::check_shape(problem, trace, rules, verdict);
  if (!verdict.good()) return verdict.take_judgement();

  const Presence presence(problem, trace, {.released = rules.released});
  const trace_rules::Case trial{problem, trace, rules, presence};
  trace_rules::check_records(trial, verdict);
  trace_rules::check_ops(trial, verdict);
  trace_rules::check_lanes(trial, verdict);
  trace_rules::check_barriers(trial, verdict);
  if (!rules.measured) verdict.begin("speed");  // simulated devices have just the speed they have
  if (rules.released) {
    judge_released(trial, verdict);
  } else if (rules.measured) {
    judge_measured(trial, verdict);
  } else {
    judge_simulated(trial, verdict);
  }
  return verdict.take_judgement();
}

std::vector<std::string> check_trace(const Problem& problem, const Trace& trace,
                                     const TraceRules& rules) {
  return judge_trace(problem, trace, rules).sentences();
}

}  // namespace tutti
