// What each device did in a run, as a table and as JSON.

#ifndef TUTTI_TOOLS_DEVICE_TABLE_H_
#define TUTTI_TOOLS_DEVICE_TABLE_H_

#include <string>

#include "tutti/base/file/json_writer.h"
#include "tutti/plan/problem.h"
#include "tutti/trace/stats.h"

namespace tutti {

std::string device_table(const Problem& problem, const TraceStats& stats);

// The keys "devices" and "channels" of the object that is open.
void add_devices(JsonWriter& json, const Problem& problem, const TraceStats& stats);

}  // namespace tutti

#endif  // TUTTI_TOOLS_DEVICE_TABLE_H_
