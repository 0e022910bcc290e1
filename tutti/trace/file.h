// Trace files: a Chrome trace (chrome://tracing, ui.perfetto.dev) that tutti reads back exactly.
// See docs/formats/trace.md.

#ifndef TUTTI_TRACE_FILE_H_
#define TUTTI_TRACE_FILE_H_

#include <string>

#include "tutti/base/output.h"
#include "tutti/base/source.h"
#include "tutti/plan/problem.h"
#include "tutti/trace/trace.h"

namespace tutti {

void write_trace(const Problem& problem, const Trace& trace, Output& output);

// Fails if the trace is of another graph or names ops, devices or links that are not there.
Result<Trace> read_trace(Source& source, const Problem& problem);

}  // namespace tutti

#endif  // TUTTI_TRACE_FILE_H_
