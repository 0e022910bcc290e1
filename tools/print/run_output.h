// What commands that run something print and write about one run: a table of its devices, the same
// as JSON, and its trace.

#ifndef TUTTI_TOOLS_PRINT_RUN_OUTPUT_H_
#define TUTTI_TOOLS_PRINT_RUN_OUTPUT_H_

#include <string>

#include "tutti/base/file/json_writer.h"
#include "tutti/base/result.h"
#include "tutti/plan/problem.h"
#include "tutti/trace/stats.h"
#include "tutti/trace/trace.h"

namespace tutti {

std::string device_table(const Problem& problem, const TraceStats& stats);

// The keys "devices" and "channels" of the object that is open.
void add_devices(JsonWriter& json, const Problem& problem, const TraceStats& stats);

Result<void> write_trace_to(const std::string& path, const Problem& problem, const Trace& trace);

// Writes what happened before a run failed to that path, unless it is empty, and says so in the
// sentence.
Error with_partial_trace(Error error, const std::string& path, const Problem& problem,
                         const Trace& partial);

}  // namespace tutti

#endif  // TUTTI_TOOLS_PRINT_RUN_OUTPUT_H_
