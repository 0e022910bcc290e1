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
  // A run on real devices: times are measured, so that it is not known how long things should have
  // taken or what links could have carried. The order of things, slots, placement, transfers and
  // memory are judged all the same.
  bool measured = false;
  // The trace comes from a file and not from the runtime itself, so that no process vouches for it:
  // what is said to be measured must be possible ("speed").
  bool doubted = false;
  // The costs were measured on the machine, so that real runs are held to a share of them, too.
  bool costs_measured = false;
  int limit = 20;
};

// What no real device can do, by the rule "speed". The first two are far beyond any that exists,
// and a clock cannot be read twice in less than the third; genuine ops took 170 ns and more.
inline constexpr double kMostFlopsPerS = 1e17;  // of an accelerator
inline constexpr double kMostFlopsPerSOfACore = 1e13;
inline constexpr double kMostBytesPerS = 2e13;  // of a link
inline constexpr Duration kLeastOpTime{5};
// And by how much a real run may be quicker than measured costs predict: an op may take a
// hundredth of its cost, a run a twentieth of the lower bound. Of genuine runs, even with nominal
// costs, none was seen below an eighth and 0.85.
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
