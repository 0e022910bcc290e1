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

// The newest format. write_trace writes version 4 if the plan says which weights are kept, and else
// version 3, which does not hold that. Version 2 has the runtime as one text ("local/direct") and
// no names in its digest. Version 1 has no digest and does not say which process measured a real
// run; its events need no times and names for viewers.
inline constexpr int64_t kTraceVersion = 4;
int64_t trace_version_of(const Trace& trace);

void write_trace(const Problem& problem, const Trace& trace, Output& output);
// The same text.
std::string trace_to_text(const Problem& problem, const Trace& trace);

// The same with arrows from each op over transfers to the ops that read its values, and with memory
// in use and bandwidth as counters. They are for viewers: read_trace ignores them, and the digest
// does not cover them. Requires what critical_path_of_run requires.
void write_viewer_trace(const Problem& problem, const Trace& trace, Output& output);
std::string viewer_trace_to_text(const Problem& problem, const Trace& trace);

// Fails if the trace is of another graph or names ops, devices or links that are not there; if it
// was changed after it was written (its digest); and if viewers would show other names, times or
// lanes than the judge reads. The rules that cannot be applied to this file are added to
// `not_applied`, each with a reason.
Result<Trace> read_trace(Source& source, const Problem& problem,
                         std::vector<NotApplied>* not_applied = nullptr);

}  // namespace tutti

#endif  // TUTTI_TRACE_FILE_H_
