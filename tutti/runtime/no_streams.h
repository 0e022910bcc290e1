// For runtimes that cannot stream weights.

#ifndef TUTTI_RUNTIME_NO_STREAMS_H_
#define TUTTI_RUNTIME_NO_STREAMS_H_

#include <string_view>

#include "tutti/plan/plan.h"
#include "tutti/plan/problem.h"

namespace tutti {

// Fails (invalid_input) if the plan streams weights (tutti/plan/weights.h), with a sentence whose
// subject is `runtime`.
Result<void> require_no_streams(const Problem& problem, const Plan& plan, std::string_view runtime);

}  // namespace tutti

#endif  // TUTTI_RUNTIME_NO_STREAMS_H_
