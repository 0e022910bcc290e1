// The inference of each kind, for the table in kind.cc. All have the contract of OpKind::infer.

#ifndef TUTTI_GRAPH_KIND_INFER_H_
#define TUTTI_GRAPH_KIND_INFER_H_

#include "tutti/graph/kind/kind.h"

namespace tutti::infer {

using Shapes = std::span<const Shape>;

// infer_elements.cc: element by element, and along one index.
Result<OpFacts> unary(const Attributes& attributes, Shapes operands);  // 1 flop per element
Result<OpFacts> scale(const Attributes& attributes, Shapes operands);
Result<OpFacts> silu(const Attributes& attributes, Shapes operands);
Result<OpFacts> binary(const Attributes& attributes, Shapes operands);
Result<OpFacts> alike(const Attributes& attributes, Shapes operands);  // several of one shape
Result<OpFacts> softmax(const Attributes& attributes, Shapes operands);
Result<OpFacts> rms_norm(const Attributes& attributes, Shapes operands);
Result<OpFacts> rope(const Attributes& attributes, Shapes operands);
Result<OpFacts> reduce(const Attributes& attributes, Shapes operands);

// infer_layout.cc: moving elements about.
Result<OpFacts> transpose(const Attributes& attributes, Shapes operands);
Result<OpFacts> assemble(const Attributes& attributes, Shapes operands);
Result<OpFacts> slice(const Attributes& attributes, Shapes operands);
Result<OpFacts> embedding(const Attributes& attributes, Shapes operands);
Result<OpFacts> last_token(const Attributes& attributes, Shapes operands);

// infer_products.cc: matrix products and the tiles of a Cholesky factorisation.
Result<OpFacts> matmul(const Attributes& attributes, Shapes operands);
Result<OpFacts> potrf(const Attributes& attributes, Shapes operands);
Result<OpFacts> trsm(const Attributes& attributes, Shapes operands);
Result<OpFacts> syrk(const Attributes& attributes, Shapes operands);
Result<OpFacts> gemm(const Attributes& attributes, Shapes operands);

}  // namespace tutti::infer

#endif  // TUTTI_GRAPH_KIND_INFER_H_
