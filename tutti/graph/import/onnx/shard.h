// Splits the large products of an ONNX model, so that one of them can run on several devices.

#ifndef TUTTI_GRAPH_IMPORT_ONNX_SHARD_H_
#define TUTTI_GRAPH_IMPORT_ONNX_SHARD_H_

#include "tutti/graph/import/onnx/model.h"

namespace tutti {

// Each MatMul and Gemm with weights on its right that does at least a hundredth of the model's
// flops, or holds a hundredth of its weights, becomes `shards` nodes, one for each block of
// columns, and a Concat of what they make: node "fc" becomes "fc[0]", "fc[1]", ... and "fc.join".
// Weights come in the same blocks, and whole too if another node reads them so. Flops stay what
// they were. Products of fewer columns stay whole.
void shard_onnx_products(OnnxModel& model, int shards);

}  // namespace tutti

#endif  // TUTTI_GRAPH_IMPORT_ONNX_SHARD_H_
