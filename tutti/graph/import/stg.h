// The Standard Task Graph Set (Tobita, Kasahara; J. Scheduling 2002), without communication:
//
//   line 1    how many tasks there are, not counting the two dummies
//   then      one row for each task and dummy: id, time, count of predecessors, their ids
//   #         begins a comment
//
// The dummies at both ends stay as ops of no time. One unit of time is taken as 1 ns, on every kind
// of device; transfers take none, as values have no bytes.

#ifndef TUTTI_GRAPH_IMPORT_STG_H_
#define TUTTI_GRAPH_IMPORT_STG_H_

#include <string_view>

#include "tutti/graph/import/import.h"

namespace tutti {

bool looks_like_stg(std::string_view start);

Result<Imported> read_stg(Source& source, const ImportOptions& options);

}  // namespace tutti

#endif  // TUTTI_GRAPH_IMPORT_STG_H_
