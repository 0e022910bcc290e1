// Task graphs of Estee (github.com/It4innovations/estee), as JSON: a list of tasks with the time
// "d" and the expected time "e_d" in s, "cpus", "outputs" with the size "s" in MB, and "inputs" as
// pairs of a task and one of its outputs, both counted from 0.
//
// A task becomes an op "task0", "task1", ... of kind "task" whose run time, on every kind of
// device, is "d". A tutti op takes one slot: of tasks that ask for more CPUs a warning speaks.

#ifndef TUTTI_GRAPH_IMPORT_ESTEE_H_
#define TUTTI_GRAPH_IMPORT_ESTEE_H_

#include <string_view>

#include "tutti/graph/import/import.h"

namespace tutti {

bool looks_like_estee(std::string_view start);

Result<Imported> read_estee(Source& source, const ImportOptions& options);

}  // namespace tutti

#endif  // TUTTI_GRAPH_IMPORT_ESTEE_H_
