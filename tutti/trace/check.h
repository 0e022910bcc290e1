// The judge of traces. It shares no code with any runtime: from the problem, the plan and the
// spans alone it recomputes where each value was when, and how much memory was in use.

#ifndef TUTTI_TRACE_CHECK_H_
#define TUTTI_TRACE_CHECK_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tutti/plan/plan.h"
#include "tutti/plan/problem.h"
#include "tutti/plan/verdict.h"
#include "tutti/trace/trace.h"

namespace tutti {

struct TraceRules {
  // The plan that was run; null for an online policy's run.
  const Plan* plan = nullptr;
  // The released model: one transfer per edge, none recorded; graph inputs are everywhere; devices
  // run one op at a time, first ready first served; no links, no memory.
  bool released = false;
  // The null runtime: everything happens at time 0 and takes no time.
  bool timeless = false;
  // A run on real devices: times are measured, so that nobody can say how long things should have
  // taken or what links could have carried. The order of things, slots, placement, transfers and
  // memory are judged all the same.
  bool measured = false;
  // The trace comes from a file and not from the runtime itself, so that nobody vouches for it:
  // what is said to be measured must be possible ("speed").
  bool doubted = false;
  int limit = 20;
};

// A real run may be quicker than its costs foretell. Not by as much as this: an op (or the bytes of
// a transfer) in a hundredth of its cost, or a run in a twentieth of the lower bound. Of genuine
// runs with nominal costs none was seen below an eighth and 0.85.
inline constexpr int64_t kQuickestOp = 100;
inline constexpr int64_t kQuickestRun = 20;

// The rules of the model that the trace is of, by the runtime it names.
TraceRules rules_for(const Trace& trace, const Plan* plan);

// All rules for traces, in the order in which they are looked at.
std::span<const Rule> trace_rule_table();

// What breaks the rules, one sentence each, and which rules could not be applied to this trace. See
// check_rules.h for the rules; the chief one is work conservation: no slot is free while an op
// placed there has its operands present and memory for it.
Judgement judge_trace(const Problem& problem, const Trace& trace, const TraceRules& rules = {});

// The sentences alone; none if the trace is good.
std::vector<std::string> check_trace(const Problem& problem, const Trace& trace,
                                     const TraceRules& rules = {});

}  // namespace tutti

#endif  // TUTTI_TRACE_CHECK_H_
