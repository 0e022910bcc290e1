// The flops of one ONNX node, by the rule of tutti/graph/kind/kind.h.

#ifndef TUTTI_GRAPH_IMPORT_ONNX_FLOPS_H_
#define TUTTI_GRAPH_IMPORT_ONNX_FLOPS_H_

#include <optional>

#include "tutti/graph/import/onnx/model.h"

namespace tutti {

// None for an op_type that is not known, or where the shapes that count are not.
std::optional<double> onnx_flops(const OnnxModel& model, const OnnxNode& node);

// Hands on what it reads under another shape, without touching it.
bool onnx_is_view(std::string_view op_type);

}  // namespace tutti

#endif  // TUTTI_GRAPH_IMPORT_ONNX_FLOPS_H_
