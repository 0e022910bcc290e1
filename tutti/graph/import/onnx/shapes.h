// The rules by which ONNX nodes make shapes of shapes. Each gives none where the operands do not
// fit or are not known. Sizes are at least 0; the caller checks that it is not absurdly
// large.

#ifndef TUTTI_GRAPH_IMPORT_ONNX_SHAPES_H_
#define TUTTI_GRAPH_IMPORT_ONNX_SHAPES_H_

#include "tutti/graph/import/onnx/facts.h"

namespace tutti {

// Numpy's rule, over all operands or two shapes.
MaybeDims broadcast_dims(const OnnxFacts& facts);
MaybeDims broadcast_dims(const OnnxDims& a, const OnnxDims& b);

// Products and convolutions; `right` is the operand with the weights.
MaybeDims matmul_dims(const OnnxFacts& facts, size_t right);
MaybeDims gemm_dims(const OnnxFacts& facts);
MaybeDims convolution_dims(const OnnxFacts& facts, size_t right);
MaybeDims transposed_convolution_dims(const OnnxFacts& facts);
MaybeDims pool_dims(const OnnxFacts& facts);
MaybeDims global_pool_dims(const OnnxFacts& facts);
MaybeDims einsum_dims(const OnnxFacts& facts);

// Other arrangements of the same numbers, or of some of them.
MaybeDims reshape_dims(const OnnxFacts& facts);
MaybeDims flatten_dims(const OnnxFacts& facts);
MaybeDims squeeze_dims(const OnnxFacts& facts);
MaybeDims unsqueeze_dims(const OnnxFacts& facts);
MaybeDims transpose_dims(const OnnxFacts& facts);
MaybeDims concat_dims(const OnnxFacts& facts);
MaybeDims split_dims(const OnnxFacts& facts, size_t part);
MaybeDims slice_dims(const OnnxFacts& facts);
MaybeDims gather_dims(const OnnxFacts& facts);
MaybeDims gather_nd_dims(const OnnxFacts& facts);
MaybeDims expand_dims(const OnnxFacts& facts);
MaybeDims tile_dims(const OnnxFacts& facts);
MaybeDims pad_dims(const OnnxFacts& facts);
MaybeDims resize_dims(const OnnxFacts& facts);
MaybeDims one_hot_dims(const OnnxFacts& facts);
MaybeDims depth_to_space_dims(const OnnxFacts& facts);
MaybeDims space_to_depth_dims(const OnnxFacts& facts);

// Fewer numbers.
MaybeDims reduce_dims(const OnnxFacts& facts);
MaybeDims arg_dims(const OnnxFacts& facts);
MaybeDims top_k_dims(const OnnxFacts& facts);

}  // namespace tutti

#endif  // TUTTI_GRAPH_IMPORT_ONNX_SHAPES_H_
