// Graphviz DOT files that describe work, of two makers:
//
//   daggen    a [size="5.8e11"];  a -> b [size="1e8"];   flops of an op, bytes of an edge
//   READYS    0 [kernel=potrf];   0 -> 1 [x=0, y=0];     kinds of ops alone
//
// Ops stand in the order in which the file first names them. A byte count below 1 means none. An op
// makes one value for each size that its edges have, so that edges of one size share a value. Other
// attributes, defaults and ports are passed over; undirected graphs and subgraphs are refused.

#ifndef TUTTI_GRAPH_IMPORT_DOT_H_
#define TUTTI_GRAPH_IMPORT_DOT_H_

#include <string_view>

#include "tutti/graph/import/import.h"

namespace tutti {

bool looks_like_dot(std::string_view start);

Result<Imported> read_dot(Source& source, const ImportOptions& options);

}  // namespace tutti

#endif  // TUTTI_GRAPH_IMPORT_DOT_H_
