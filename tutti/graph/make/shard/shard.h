// The sharder splits the indices of a Program into blocks, as equal as they can be, and writes the
// graph of the blocks:
//
//   - one op for each block that a statement makes; where an index that is summed over is split,
//   one
//     for each partial block, and a `sum` (or `max`) op that joins them;
//   - where a reader wants other blocks than there are, `slice` ops that cut what it needs from
//   each
//     of them and an `assemble` op that puts the pieces together, so that no more bytes move than
//     are needed. Readers that want the same block share it.
//
// A graph input comes in the blocks that its first reader wants. Every op has a `group`, the name
// of the tensor whose statement it came from (that name and ".repartition" for slice and assemble),
// and a `shard`, the device where an expert would put it: see tutti/graph/groups.h.

#ifndef TUTTI_GRAPH_MAKE_SHARD_SHARD_H_
#define TUTTI_GRAPH_MAKE_SHARD_SHARD_H_

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tutti/base/result.h"
#include "tutti/graph/graph.h"
#include "tutti/graph/limits.h"
#include "tutti/graph/make/shard/program.h"

namespace tutti {

// Which block of a statement an op makes.
struct BlockPlace {
  const Indices& indices;      // of the result
  const Indices& summed;       // none for the op that joins partial blocks
  std::vector<int64_t> block;  // by index id: which block, 0 where the statement lacks it
  std::vector<int64_t> count;  // by index id: of how many, 1 where the statement lacks it

  int64_t at(IndexId index) const { return block[static_cast<size_t>(index.index)]; }
  int64_t of(IndexId index) const { return count[static_cast<size_t>(index.index)]; }
};

// The device, from 0, on which an expert would put that block.
using Expert = std::function<int32_t(const BlockPlace& place)>;

struct Sharding {
  std::map<IndexId, int64_t> splits{};  // into how many blocks; 1 where left out
  // The same for one statement, by the name of its tensor; these go first.
  std::map<std::pair<std::string, IndexId>, int64_t> statement_splits{};
  // Into how many blocks partial results are joined, likewise; as the statement itself where left
  // out.
  std::map<std::pair<std::string, IndexId>, int64_t> join_splits{};
  DType dtype = DType::f32;
  Expert expert{};               // none: all on device 0
  double most_made = kMostMade;  // ops and edges
};

// Where the blocks of a tensor are in the graph.
struct TensorBlocks {
  std::string name{};
  std::vector<int64_t> shape{};
  std::vector<int64_t> counts{};  // blocks along each axis
  std::vector<ValueId>
      values{};  // of the blocks, in row-major order; none if no statement reads an input
  std::vector<int32_t> shards{};  // by block; none for graph inputs
  bool input = false;
};

struct Sharded {
  Graph graph;
  std::vector<TensorBlocks> tensors{};  // of the program, less those that rename others
};

// Fails, with one sentence, if an index has fewer positions than blocks, or a block or the graph
// would be too large; a graph whose ops alone are too many is refused before any is made.
Result<Sharded> shard(const Program& program, const Sharding& sharding);

}  // namespace tutti

#endif  // TUTTI_GRAPH_MAKE_SHARD_SHARD_H_
