// The kinds of ops that tutti knows by heart: what each makes of its operands, how many flops that
// takes and how many elements it moves. The sharder writes graphs of these kinds; tutti/kernels has
// the code that runs them. Graphs may hold ops of any other kind: tutti plans those as well.
//
// Flops count one for each addition, multiplication, division, comparison or call of exp and the
// like on one element; indexing and copying count nothing.

#ifndef TUTTI_GRAPH_KIND_KIND_H_
#define TUTTI_GRAPH_KIND_KIND_H_

#include <span>
#include <string_view>

#include "tutti/base/result.h"
#include "tutti/graph/kind/attributes.h"
#include "tutti/graph/kind/einsum.h"

namespace tutti {

struct OpFacts {
  Shape output;
  double flops = 0;
  double elements_moved = 0;  // read and written; times the bytes of an element: bytes moved
};

struct OpKind {
  static constexpr int kOneOrMore = -1;

  std::string_view name;
  int operands;
  std::string_view about;  // with its attributes
  // Leaves elements_moved at 0 where the kind reads all of its operands and writes its output once.
  Result<OpFacts> (*infer)(const Attributes& attributes, std::span<const Shape> operands);
};

// By name.
std::span<const OpKind> known_kinds();

// Fails, with one sentence, if the kind is unknown, the number of operands is wrong, a size is
// negative, or operands and attributes do not fit.
Result<OpFacts> infer_op(std::string_view kind, const Attributes& attributes,
                         std::span<const Shape> operands);

// The number of elements. A double: block sizes are exact, and absurd products do not overflow.
double element_count(const Shape& shape);

}  // namespace tutti

#endif  // TUTTI_GRAPH_KIND_KIND_H_
