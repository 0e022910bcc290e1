// Where commands that run something leave their traces.

#ifndef TUTTI_TOOLS_TRACE_OUTPUT_H_
#define TUTTI_TOOLS_TRACE_OUTPUT_H_

#include <string>

#include "tutti/base/result.h"
#include "tutti/plan/problem.h"
#include "tutti/trace/trace.h"

namespace tutti {

Result<void> write_trace_to(const std::string& path, const Problem& problem, const Trace& trace);

// What happened until a run failed is worth a look: it is left at that path, if it is one, and the
// sentence says so.
Error with_partial_trace(Error error, const std::string& path, const Problem& problem,
                         const Trace& partial);

}  // namespace tutti

#endif  // TUTTI_TOOLS_TRACE_OUTPUT_H_
