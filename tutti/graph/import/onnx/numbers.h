// Working out whole numbers before the run: exported models compute the shapes they reshape to from
// the shapes of their inputs, with nodes such as Shape, Gather and Concat.

#ifndef TUTTI_GRAPH_IMPORT_ONNX_NUMBERS_H_
#define TUTTI_GRAPH_IMPORT_ONNX_NUMBERS_H_

#include <optional>
#include <vector>

#include "tutti/graph/import/onnx/facts.h"

namespace tutti {

// Larger constants are not shapes, and are not worked out.
inline constexpr size_t kMostNumbers = 4096;

// The numbers of the node's first result, whose type is inferred already; none if they cannot be
// worked out.
std::optional<std::vector<int64_t>> onnx_numbers(const OnnxModel& model, const OnnxNode& node);

// What Shape and Range make, before their types are known.
std::optional<std::vector<int64_t>> onnx_shape_of(const OnnxFacts& facts);
std::optional<std::vector<int64_t>> onnx_range_of(const OnnxFacts& facts);

}  // namespace tutti

#endif  // TUTTI_GRAPH_IMPORT_ONNX_NUMBERS_H_
