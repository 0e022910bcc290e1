// Plans as other programs read them. See docs/formats/export.md, which says what each of them does
// with it.
//
// All take a plan that passes check_plan, and give the same text for the same plan.

#ifndef TUTTI_PLAN_EXPORT_EXPORT_H_
#define TUTTI_PLAN_EXPORT_EXPORT_H_

#include <string>

#include "tutti/plan/plan.h"
#include "tutti/plan/problem.h"

namespace tutti {

// One row per op, in the order of the graph (RFC 4180): what it is, where it runs and when.
std::string plan_to_csv(const Plan& plan, const Problem& problem);

// A JSON map from ops, and from modules whose ops stay together, to devices as PyTorch calls them.
std::string plan_to_device_map(const Plan& plan, const Problem& problem);

// StarPU's sched.rec: one record per op in the order of submission, with worker and priority.
std::string plan_to_sched_rec(const Plan& plan, const Problem& problem);

}  // namespace tutti

#endif  // TUTTI_PLAN_EXPORT_EXPORT_H_
