// Tiled Cholesky factorisation, right-looking (Buttari et al., Parallel Computing 2009): step k
// factors a diagonal tile (potrf), solves the tiles below it (trsm) and updates all tiles to the
// right (syrk on the diagonal, gemm elsewhere). Groups are "potrf.k", "trsm.k" and "update.k"; the
// expert deals tiles to devices 2-D block-cyclically.

#ifndef TUTTI_GRAPH_MAKE_CHOLESKY_H_
#define TUTTI_GRAPH_MAKE_CHOLESKY_H_

#include <cstdint>

#include "tutti/base/result.h"
#include "tutti/graph/graph.h"
#include "tutti/graph/limits.h"

namespace tutti {

struct CholeskySpec {
  int64_t tiles = 10;        // per side
  int64_t tile_size = 1024;  // rows and columns of a tile
  int32_t devices = 4;
  DType dtype = DType::f32;
  double most_made = kMostMade;  // ops and edges
};

// Inputs are the lower tiles "a.i.j"; the factor's tiles are made by potrf.k and trsm.i.k. Fails if
// a number is not positive, or the graph would be too large.
Result<Graph> make_cholesky(const CholeskySpec& spec);

}  // namespace tutti

#endif  // TUTTI_GRAPH_MAKE_CHOLESKY_H_
