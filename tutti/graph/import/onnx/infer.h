// The types of what an ONNX node makes, by rules of our own for the op types that models are made
// of. libonnx has rules for all, but they trust a model: the one for Gemm of opset 6 reads
// dimensions that are not there.

#ifndef TUTTI_GRAPH_IMPORT_ONNX_INFER_H_
#define TUTTI_GRAPH_IMPORT_ONNX_INFER_H_

#include <vector>

#include "tutti/graph/import/onnx/model.h"

namespace tutti {

// One for each of node.makes. Where there is no rule, or the node does not keep to it, the type is
// left unknown.
std::vector<OnnxType> infer_onnx_types(const OnnxModel& model, const OnnxNode& node);

}  // namespace tutti

#endif  // TUTTI_GRAPH_IMPORT_ONNX_INFER_H_
