// Graph files: our own JSON, which holds everything a Graph does. See docs/formats/graph.md.
//
//   {"format": "tutti-graph", "schema_version": 1, "name": "tiny", "fingerprint":
//   "0123456789abcdef",
//    "inputs": [{"name": "x", "shape": [64, 64], "dtype": "f32", "residence": "host"}],
//    "ops": [{"name": "a", "kind": "matmul", "operands": ["x"], "outputs": [{"bytes": 16384}],
//             "flops": 5e5, "run_time_ns": {"cpu": 90000, "gpu": 4000}}]}
//
// Ops may stand in any order. An op without "outputs" makes one value of 0 bytes. A value is called
// like its op, or "op:k" if the op makes several, unless it has a name. Bytes that are not given
// follow from shape and dtype. A given time is a number for every kind of device, or a table by
// kind, where "*" is every kind not named; a transfer time is one entry per operand: a number,
// null, or a table by "from>to". An op may carry the program that it stands for ("command"; such
// files have schema_version 2). Foreign formats are read by graph/import.

#ifndef TUTTI_GRAPH_FILE_H_
#define TUTTI_GRAPH_FILE_H_

#include <string_view>

#include "tutti/base/file/output.h"
#include "tutti/base/file/source.h"
#include "tutti/graph/graph.h"

namespace tutti {

// True if a text that begins so is a graph file: JSON whose first key is the format.
bool looks_like_graph_file(std::string_view start);

// Reads op by op, so that a file of any size needs little more memory than its graph. Fails with
// file and line on names that stand twice, operands that no op makes, numbers out of range, and a
// fingerprint that is not the graph's; with the file on a cycle.
Result<Graph> read_graph(Source& source);

// Writes op by op. The caller commits. read_graph gives a graph of the same fingerprint back.
void write_graph(const Graph& graph, Output& output);

}  // namespace tutti

#endif  // TUTTI_GRAPH_FILE_H_
