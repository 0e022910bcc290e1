#include <cmath>

#include "tutti/kernels/einsum_places.h"
#include "tutti/kernels/reference.h"

namespace tutti::reference {
namespace {

// A matrix in a tensor.
struct Rows {
  const Tensor& tensor;
  double operator()(int64_t i, int64_t j) const {
    return tensor.data[static_cast<size_t>(i * tensor.shape[1] + j)];
  }
};

double& at(Tensor& tensor, int64_t i, int64_t j) {
  return tensor.data[static_cast<size_t>(i * tensor.shape[1] + j)];
}

// output = c - a b^T.
void subtract_product(const Tensor& a, const Tensor& b, const Tensor& c, Tensor& output) {
  for (int64_t i = 0; i < a.shape[0]; ++i) {
    for (int64_t j = 0; j < b.shape[0]; ++j) {
      double rest = Rows{c}(i, j);
      for (int64_t k = 0; k < a.shape[1]; ++k) rest -= Rows{a}(i, k) * Rows{b}(j, k);
      at(output, i, j) = rest;
    }
  }
}

}  // namespace

Result<void> matmul(const Attributes& attributes, Operands operands, Tensor& output) {
  const Tensor& a = *operands[0];
  const Tensor& b = *operands[1];
  const Einsum einsum =
      *parse_einsum(attributes.text("einsum").value_or("ik,kj->ij"), a.shape, b.shape);
  for_each_pair(einsum, a.shape, b.shape, [&](size_t in_a, size_t in_b, size_t in_out) {
    output.data[in_out] += a.data[in_a] * b.data[in_b];
  });
  return {};
}

// Reads the lower triangle; the upper one of the result is 0.
Result<void> potrf(const Attributes& /*attributes*/, Operands operands, Tensor& output) {
  const Rows a{*operands[0]};
  const Rows l{output};
  for (int64_t j = 0; j < output.shape[0]; ++j) {
    double rest = a(j, j);
    for (int64_t k = 0; k < j; ++k) rest -= l(j, k) * l(j, k);
    if (!(rest > 0)) return invalid_input("potrf: the tile is not positive definite");
    at(output, j, j) = std::sqrt(rest);
    for (int64_t i = j + 1; i < output.shape[0]; ++i) {
      double below = a(i, j);
      for (int64_t k = 0; k < j; ++k) below -= l(i, k) * l(j, k);
      at(output, i, j) = below / l(j, j);
    }
  }
  return {};
}

Result<void> trsm(const Attributes& /*attributes*/, Operands operands, Tensor& output) {
  const Rows l{*operands[0]};
  const Rows a{*operands[1]};
  const Rows x{output};
  for (int64_t i = 0; i < output.shape[0]; ++i) {
    for (int64_t j = 0; j < output.shape[1]; ++j) {
      double rest = a(i, j);
      for (int64_t k = 0; k < j; ++k) rest -= x(i, k) * l(j, k);
      at(output, i, j) = rest / l(j, j);
    }
  }
  return {};
}

Result<void> syrk(const Attributes& /*attributes*/, Operands operands, Tensor& output) {
  subtract_product(*operands[0], *operands[0], *operands[1], output);
  return {};
}

Result<void> gemm(const Attributes& /*attributes*/, Operands operands, Tensor& output) {
  subtract_product(*operands[0], *operands[1], *operands[2], output);
  return {};
}

}  // namespace tutti::reference
