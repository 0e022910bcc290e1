// (A x B) + (C x (D x E)), square matrices: the workload CHAINMM of Doppler (Yao et al. 2025).
//
// Each product is split into blocks of rows, columns and the index summed over: i*j*k products and,
// for k > 1, i*j sums. D x E comes in i*j blocks and is read in k*j, hence re-partitioned.

#ifndef TUTTI_GRAPH_MAKE_CHAINMM_H_
#define TUTTI_GRAPH_MAKE_CHAINMM_H_

#include "tutti/graph/make/shard/shard.h"

namespace tutti {

// Blocks of a matrix product: rows, columns, and of the index that is summed over.
struct ProductSplit {
  int64_t rows = 1;
  int64_t columns = 1;
  int64_t summed = 1;
};

struct ChainmmSpec {
  int64_t size = 10000;
  ProductSplit split{2, 2, 4};
  int32_t devices = 4;
  DType dtype = DType::f32;
  double most_made = kMostMade;  // ops and edges
};

Result<Sharded> make_chainmm(const ChainmmSpec& spec);

}  // namespace tutti

#endif  // TUTTI_GRAPH_MAKE_CHAINMM_H_
