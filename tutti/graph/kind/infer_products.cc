#include <fmt/format.h>

#include "tutti/graph/kind/infer.h"

namespace tutti::infer {
namespace {

Error do_not_fit(Shapes operands) {
  std::string shapes = wholes_text(operands[0]);
  for (const Shape& shape : operands.subspan(1)) shapes += " and " + wholes_text(shape);
  return invalid_input(fmt::format("tiles of shapes {} do not fit", shapes));
}

bool is_matrix(const Shape& shape, int64_t rows, int64_t columns) {
  return shape == Shape{rows, columns};
}

bool are_matrices(Shapes operands) {
  for (const Shape& shape : operands) {
    if (shape.size() != 2) return false;
  }
  return true;
}

}  // namespace

Result<OpFacts> matmul(const Attributes& attributes, Shapes operands) {
  const Result<Einsum> einsum =
      parse_einsum(attributes.text("einsum").value_or("ik,kj->ij"), operands[0], operands[1]);
  if (!einsum) return einsum.error();
  return OpFacts{.output = einsum->output_shape(), .flops = 2 * element_count(einsum->sizes)};
}

// Leading terms, as libraries quote them: LAPACK working note 41.
Result<OpFacts> potrf(const Attributes& /*attributes*/, Shapes operands) {
  if (!are_matrices(operands) || operands[0][0] != operands[0][1]) return do_not_fit(operands);
  const auto n = static_cast<double>(operands[0][0]);
  return OpFacts{.output = operands[0], .flops = n * n * n / 3};
}

Result<OpFacts> trsm(const Attributes& /*attributes*/, Shapes operands) {
  if (!are_matrices(operands) || !is_matrix(operands[0], operands[1][1], operands[1][1])) {
    return do_not_fit(operands);
  }
  const auto n = static_cast<double>(operands[1][1]);
  return OpFacts{.output = operands[1], .flops = static_cast<double>(operands[1][0]) * n * n};
}

Result<OpFacts> syrk(const Attributes& /*attributes*/, Shapes operands) {
  if (!are_matrices(operands) || !is_matrix(operands[1], operands[0][0], operands[0][0])) {
    return do_not_fit(operands);
  }
  const auto n = static_cast<double>(operands[0][0]);
  return OpFacts{.output = operands[1], .flops = n * n * static_cast<double>(operands[0][1])};
}

Result<OpFacts> gemm(const Attributes& /*attributes*/, Shapes operands) {
  if (!are_matrices(operands) || operands[0][1] != operands[1][1] ||
      !is_matrix(operands[2], operands[0][0], operands[1][0])) {
    return do_not_fit(operands);
  }
  return OpFacts{.output = operands[2],
                 .flops = 2 * element_count(operands[2]) * static_cast<double>(operands[0][1])};
}

}  // namespace tutti::infer
