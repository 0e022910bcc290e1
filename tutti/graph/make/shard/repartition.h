// Gives readers the blocks they want of a tensor that comes in others; for the sharder.

#ifndef TUTTI_GRAPH_MAKE_SHARD_REPARTITION_H_
#define TUTTI_GRAPH_MAKE_SHARD_REPARTITION_H_

#include <map>
#include <string>

#include "tutti/graph/make/shard/blocks.h"
#include "tutti/graph/make/shard/emitter.h"
#include "tutti/graph/make/shard/shard.h"

namespace tutti {

class Repartition {
 public:
  // Adds ops to the emitter, which must outlive this.
  explicit Repartition(Emitter& emitter) : emitter_(emitter) {}

  // The value of a region of the tensor for a reader on `shard`, cut and assembled where it must
  // be. What is asked for again is not made again.
  Result<ValueId> fetch(const TensorBlocks& blocks, const Region& region, int32_t shard);

  // A piece of one value, which is the region `whole` of the tensor.
  Result<ValueId> slice(const std::string& tensor, ValueId from, const Region& whole,
                        const Region& piece, int32_t shard);

 private:
  struct Piece {
    std::string tensor;
    Region region;
    int32_t shard;  // where it is made
    friend auto operator<=>(const Piece&, const Piece&) = default;
  };

  Result<ValueId> cut(const TensorBlocks& blocks, const Axes& from, const Region& piece,
                      int32_t shard);
  // "x.slice0", "x.slice1", ...
  std::string next_name(const std::string& tensor, const char* what);

  Emitter& emitter_;
  std::map<Piece, ValueId> pieces_;
  std::map<std::string, int> made_;
};

}  // namespace tutti

#endif  // TUTTI_GRAPH_MAKE_SHARD_REPARTITION_H_
