// Into which blocks a statement of a program is split, as a Sharding says; for the sharder.

#ifndef TUTTI_GRAPH_MAKE_SHARD_SPLIT_H_
#define TUTTI_GRAPH_MAKE_SHARD_SPLIT_H_

#include <vector>

#include "tutti/base/result.h"
#include "tutti/graph/make/shard/blocks.h"
#include "tutti/graph/make/shard/shard.h"

namespace tutti {

using BlockOf = std::vector<int64_t>;  // by index id: which block, or of how many

// The entries of some indices.
Axes along(const Indices& indices, const BlockOf& by_index);
void put(BlockOf& by_index, const Indices& indices, const Axes& entries);

// Refers to the program it was made for.
struct Split {
  const Statement& statement;
  const ProgramTensor& output;
  BlockOf counts;  // of each op
  BlockOf joined;  // of the result: finer where partial blocks are joined in smaller ones
  // Ops and edges, less those that cut and assemble what operands lack.
  double made = 0;
};

// Fails if an index has fewer positions than it should have blocks.
Result<Split> split_statement(const Program& program, const Sharding& sharding,
                              const Statement& statement);

}  // namespace tutti

#endif  // TUTTI_GRAPH_MAKE_SHARD_SPLIT_H_
