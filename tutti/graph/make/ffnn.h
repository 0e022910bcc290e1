// A feed-forward network: x W + b and a ReLU between layers; with `train` also one step of gradient
// descent on half the mean squared error over the batch.
//
// Split either as products (rows, columns and the index summed over of each matrix product) or by
// data: each device has a part of the batch and all weights, and gradients are reduced by columns,
// each device adding up its own.

#ifndef TUTTI_GRAPH_MAKE_FFNN_H_
#define TUTTI_GRAPH_MAKE_FFNN_H_

#include <optional>

#include "tutti/graph/make/chainmm.h"

namespace tutti {

struct FfnnSpec {
  int64_t batch = 16384;
  std::vector<int64_t> sizes = {4096, 16384, 16384, 4096};  // of input, hidden layers, output
  bool train = false;
  double learning_rate = 0.01;
  int64_t data_shards = 4;              // parts of the batch, unless `split` is given
  std::optional<ProductSplit> split{};  // as products
  int32_t devices = 4;
  DType dtype = DType::f32;
  double most_made = kMostMade;  // ops and edges
};

Result<Sharded> make_ffnn(const FfnnSpec& spec);

}  // namespace tutti

#endif  // TUTTI_GRAPH_MAKE_FFNN_H_
