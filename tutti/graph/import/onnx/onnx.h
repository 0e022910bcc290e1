// ONNX models (onnx.ai), read with libonnx where tutti was built with it.
//
// Each node of the graph, and of the bodies of loops and branches (bodies.cc), becomes an op of the
// same name, its op_type the kind, with the bytes of what it makes by shape inference and its flops
// (flops.h). What can be worked out before the run is folded: constants, shapes, and nodes that
// read only those. A constant that a remaining op reads, such as an initializer, becomes a graph
// input that is resident (weight); the model's inputs start at the host. Symbolic dimensions and
// rounds of loops are set by ImportOptions::dims. Reshape and its kin are views and are given no
// time. Large products can be split (shard.h).

#ifndef TUTTI_GRAPH_IMPORT_ONNX_ONNX_H_
#define TUTTI_GRAPH_IMPORT_ONNX_ONNX_H_

#include <string_view>

#include "tutti/graph/import/import.h"

namespace tutti {

bool looks_like_onnx(std::string_view start);

// Fails with a sentence if tutti was built without libonnx.
Result<Imported> read_onnx(Source& source, const ImportOptions& options);
bool can_read_onnx();

}  // namespace tutti

#endif  // TUTTI_GRAPH_IMPORT_ONNX_ONNX_H_
