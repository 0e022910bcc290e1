// The judge of plans. It shares no code with any policy or runtime: it recomputes what it needs
// from the problem alone.

#ifndef TUTTI_PLAN_CHECK_CHECK_H_
#define TUTTI_PLAN_CHECK_CHECK_H_

#include <span>
#include <string>
#include <vector>

#include "tutti/plan/check/verdict.h"
#include "tutti/plan/plan.h"
#include "tutti/plan/problem.h"

namespace tutti {

// All rules for plans, in the order in which they are looked at.
std::span<const Rule> plan_rule_table();

// What breaks the rules, at most `limit` sentences, and which rules could not be applied.
Judgement judge_plan(const Problem& problem, const Plan& plan, int limit = 20);

// The sentences alone: every rule that the plan breaks, one sentence each (at most `limit`); none
// if it is good. Rules: one allowed device per op; colocation groups together; weights and the
// largest op fit each memory; a strict order that lists each op once and cannot deadlock; a
// timeline in which every op has its run time, starts after its operands can have arrived, and no
// device runs more ops than slots; a planned makespan that is the timeline's end. Whether a
// timeline that is said to be of a simulated run is so, only a simulator can tell: `tutti check`
// asks it.
std::vector<std::string> check_plan(const Problem& problem, const Plan& plan, int limit = 20);

}  // namespace tutti

#endif  // TUTTI_PLAN_CHECK_CHECK_H_
