// An Emitter builds graphs of known kinds of ops (tutti/graph/kind/kind.h): shapes, flops and bytes
// follow from kind, attributes and operands.

#ifndef TUTTI_GRAPH_MAKE_SHARD_EMITTER_H_
#define TUTTI_GRAPH_MAKE_SHARD_EMITTER_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tutti/graph/builder.h"
#include "tutti/graph/kind/kind.h"
#include "tutti/graph/limits.h"

namespace tutti {

struct EmittedOp {
  std::string name;
  std::string kind;
  std::vector<ValueId> operands;
  std::vector<std::pair<std::string, std::string>> attributes;  // those its kernel reads
  std::string group;
  int32_t shard = 0;
};

class Emitter {
 public:
  Emitter(std::string name, DType dtype, double most_made = kMostMade)
      : builder_(std::move(name)), dtype_(dtype), most_made_(most_made) {}

  // Fail if the value would have more bytes than graphs may state, or the graph grows too large.
  Result<ValueId> add_input(std::string name, const Shape& shape, bool weight,
                            DType dtype = DType::unknown);
  // Also fails if kind, attributes and operands do not fit.
  Result<ValueId> add_op(EmittedOp op);

  Result<Graph> build() && { return std::move(builder_).build(); }

 private:
  // Of the emitter's dtype unless another is given.
  Result<ValueSpec> value_of(std::string name, const Shape& shape, DType dtype) const;

  GraphBuilder builder_;
  DType dtype_;
  double most_made_;           // ops and edges
  std::vector<Shape> shapes_;  // by value
};

}  // namespace tutti

#endif  // TUTTI_GRAPH_MAKE_SHARD_EMITTER_H_
