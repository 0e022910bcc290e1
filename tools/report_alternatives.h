// What else could have been done with the ops of a plan, as tutti explain says it, for the page of
// tutti report.

#ifndef TUTTI_TOOLS_REPORT_ALTERNATIVES_H_
#define TUTTI_TOOLS_REPORT_ALTERNATIVES_H_

#include <string>

#include "tutti/plan/plan.h"
#include "tutti/plan/problem.h"
#include "tutti/report/resources.h"

namespace tutti {

// Of as many ops as about a second allows, the longest first: their number depends on the sizes of
// graph and machine alone, so that the page is the same on every computer.
ReportedAlternatives find_alternatives(const Problem& problem, const std::string& name,
                                       const Plan& plan);

}  // namespace tutti

#endif  // TUTTI_TOOLS_REPORT_ALTERNATIVES_H_
