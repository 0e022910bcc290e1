// The rules for plans and traces that only a simulator can apply. The judges of plan/check.h and
// trace/check.h share no code with any runtime; these do, and say whether what is claimed to be
// simulated comes out the same when it is simulated again.

#ifndef TUTTI_RUNTIME_SIM_REPLAY_H_
#define TUTTI_RUNTIME_SIM_REPLAY_H_

#include <span>

#include "tutti/plan/check/verdict.h"
#include "tutti/plan/plan.h"
#include "tutti/plan/problem.h"
#include "tutti/trace/trace.h"

namespace tutti {

// "standstill": a simulated run of the plan ends. "timeline": one that is said to be of a simulated
// run is. "steady state": so is the time per pass of a plan for repeated passes. Requires a plan
// that judge_plan finds good.
Judgement replay_plan(const Problem& problem, const Plan& plan);
std::span<const Rule> plan_replay_rules();

// "replay": the trace of a simulated plan is what the simulator makes of the plan, with the order,
// seed and draws that the trace records. `plan` is null where none is known. Requires a plan and a
// trace that their judges find good.
Judgement replay_trace(const Problem& problem, const Plan* plan, const Trace& trace);
std::span<const Rule> trace_replay_rules();

}  // namespace tutti

#endif  // TUTTI_RUNTIME_SIM_REPLAY_H_
