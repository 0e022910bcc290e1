// Plan files. See docs/formats/plan.md.

#ifndef TUTTI_PLAN_FILE_H_
#define TUTTI_PLAN_FILE_H_

#include <string>

#include "tutti/base/file/source.h"
#include "tutti/plan/plan.h"
#include "tutti/plan/problem.h"

namespace tutti {

// The plan must hold a device for each op, and the fingerprints of the problem it was made for:
// read_plan refuses others. Seeds and fingerprints are written as texts (Fields::seed,
// Fields::fingerprint).
std::string plan_to_json(const Plan& plan, const Problem& problem);

// Fails if the plan was made for another graph, or names ops or devices that are not there. A plan
// for another machine or other costs is taken when its device names exist.
Result<Plan> read_plan(Source& source, const Problem& problem);

}  // namespace tutti

#endif  // TUTTI_PLAN_FILE_H_
