// Tiled Cholesky graphs of McSweeney's HOFT (github.com/mcsweeney90/
// heterogeneous_optimistic_finish_time), as JSON: "nodes" with id, kernel, cpu_us and gpu_us, and
// "edges" with src, dst and the transfer times CC, CG, GC, GG in us, where CG is from a CPU to a
// GPU.
//
// Times become given times for the device kinds "cpu" and "gpu", to the nearest ns; values have no
// bytes.

#ifndef TUTTI_GRAPH_IMPORT_HOFT_H_
#define TUTTI_GRAPH_IMPORT_HOFT_H_

#include <string_view>

#include "tutti/graph/import/import.h"

namespace tutti {

bool looks_like_hoft(std::string_view start);

Result<Imported> read_hoft(Source& source, const ImportOptions& options);

}  // namespace tutti

#endif  // TUTTI_GRAPH_IMPORT_HOFT_H_
