// Trace files: a Chrome trace (chrome://tracing, ui.perfetto.dev) that tutti reads back exactly.
// See docs/formats/trace.md.

#ifndef TUTTI_TRACE_FILE_H_
#define TUTTI_TRACE_FILE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tutti/base/file/output.h"
#include "tutti/base/file/source.h"
#include "tutti/plan/check/verdict.h"
#include "tutti/plan/problem.h"
#include "tutti/trace/trace.h"

namespace tutti {

// The format that write_trace writes. Version 1 has no digest, and says nothing of who measured a
// real run; its events need no times and names for viewers.
inline constexpr int64_t kTraceVersion = 2;

void write_trace(const Problem& problem, const Trace& trace, Output& output);

// Fails if the trace is of another graph or names ops, devices or links that are not there; if it
// was changed after it was written (its digest); and if it would show a viewer other names, times
// or lanes than it tells the judge. Which of these rules an old or foreign file does not let us
// apply is added to `not_applied`.
Result<Trace> read_trace(Source& source, const Problem& problem,
                         std::vector<NotApplied>* not_applied = nullptr);

}  // namespace tutti

#endif  // TUTTI_TRACE_FILE_H_
