// The rules of check_plan, one function each. Only plan/check.cc calls them, in this order; those
// after check_shape may take for granted that every id of the plan exists.

#ifndef TUTTI_PLAN_CHECK_RULES_H_
#define TUTTI_PLAN_CHECK_RULES_H_

#include "tutti/plan/check/verdict.h"
#include "tutti/plan/plan.h"
#include "tutti/plan/problem.h"

namespace tutti::plan_rules {

// The plan is of this graph: one device and one priority per op, all ids exist.
void check_shape(const Problem& problem, const Plan& plan, Verdict& verdict);

// Every op is on a device that can run it and that its constraints allow.
void check_placement(const Problem& problem, const Plan& plan, Verdict& verdict);

// The ops of a colocation group share one device.
void check_colocation(const Problem& problem, const Plan& plan, Verdict& verdict);

// In each memory with a limit: the weights read there, each once, plus the largest need
// of a single op (outputs, transient bytes, operands that are not weights) fit. Of weights with
// homes the plan may say which are kept; then those at home or kept and the stream buffer count.
void check_memory(const Problem& problem, const Plan& plan, Verdict& verdict);

// If the plan says which weights are kept: the stream buffer of each memory holds the streamed
// weights of any one op placed there.
void check_stream_buffers(const Problem& problem, const Plan& plan, Verdict& verdict);

// The strict order lists each op once, on its own device, and can be carried out: no op waits, by
// order or by operand, for one that waits for it.
void check_strict_order(const Problem& problem, const Plan& plan, Verdict& verdict);

// Every op takes its run time, starts after its operands can have arrived, and no device runs more
// ops than it has slots; the planned makespan is the last finish. Requires a timeline.
void check_timeline(const Problem& problem, const Plan& plan, Verdict& verdict);

}  // namespace tutti::plan_rules

#endif  // TUTTI_PLAN_CHECK_RULES_H_
