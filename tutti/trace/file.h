// Trace files: a Chrome trace (chrome://tracing, ui.perfetto.dev) that tutti reads back exactly.
// See docs/formats/trace.md.

#ifndef TUTTI_TRACE_FILE_H_
#define TUTTI_TRACE_FILE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tutti/base/output.h"
#include "tutti/base/source.h"
#include "tutti/plan/problem.h"
#include "tutti/plan/verdict.h"
#include "tutti/trace/trace.h"

namespace tutti {

// The format that write_trace writes. Version 2 has the runtime as one text ("local/direct") and no
// names in its digest. Version 1 has no digest and does not say which process measured a real run;
// its events need no times and names for viewers.
inline constexpr int64_t kTraceVersion = 3;

void write_trace(const Problem& problem, const Trace& trace, Output& output);

// Fails if the trace is of another graph or names ops, devices or links that are not there; if it
// was changed after it was written (its digest); and if viewers would show other names, times or
// lanes than the judge reads. The rules that cannot be applied to this file are added to
// `not_applied`, each with a reason.
Result<Trace> read_trace(Source& source, const Problem& problem,
                         std::vector<NotApplied>* not_applied = nullptr);

}  // namespace tutti

#endif  // TUTTI_TRACE_FILE_H_
