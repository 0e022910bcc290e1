#include <algorithm>
#include <cmath>

#include "tutti/kernels/einsum_places.h"
#include "tutti/kernels/reference.h"

namespace tutti::reference {
namespace {

template <class Function>
Result<void> each(const Tensor& x, Tensor& output, Function function) {
  std::transform(x.data.begin(), x.data.end(), output.data.begin(), function);
  return {};
}

template <class Function>
Result<void> each_alike(Operands operands, Tensor& output, Function function) {
  const std::vector<double>& a = operands[0]->data;
  std::transform(a.begin(), a.end(), operands[1]->data.begin(), output.data.begin(), function);
  return {};
}

template <class Function>
Result<void> each_pair(const Attributes& attributes, Operands operands, Tensor& output,
                       Function function) {
  const Tensor& a = *operands[0];
  const Tensor& b = *operands[1];
  const auto text = attributes.text("einsum");
  if (!text) return each_alike(operands, output, function);
  for_each_pair(*parse_einsum(*text, a.shape, b.shape), a.shape, b.shape,
                [&](size_t in_a, size_t in_b, size_t in_out) {
                  output.data[in_out] = function(a.data[in_a], b.data[in_b]);
                });
  return {};
}

template <class Function>
Result<void> fold(Operands operands, Tensor& output, Function function) {
  output.data = operands[0]->data;
  for (const Tensor* next : operands.subspan(1)) {
    std::transform(output.data.begin(), output.data.end(), next->data.begin(), output.data.begin(),
                   function);
  }
  return {};
}

}  // namespace

Result<void> add(const Attributes& attributes, Operands operands, Tensor& output) {
  return each_pair(attributes, operands, output, [](double a, double b) { return a + b; });
}

Result<void> subtract(const Attributes& attributes, Operands operands, Tensor& output) {
  return each_pair(attributes, operands, output, [](double a, double b) { return a - b; });
}

Result<void> multiply(const Attributes& attributes, Operands operands, Tensor& output) {
  return each_pair(attributes, operands, output, [](double a, double b) { return a * b; });
}

Result<void> scale(const Attributes& attributes, Operands operands, Tensor& output) {
  const double factor = *attributes.number("factor", 1);
  return each(*operands[0], output, [&](double x) { return factor * x; });
}

Result<void> relu(const Attributes& /*attributes*/, Operands operands, Tensor& output) {
  return each(*operands[0], output, [](double x) { return std::max(x, 0.0); });
}

Result<void> relu_gradient(const Attributes& /*attributes*/, Operands operands, Tensor& output) {
  return each_alike(operands, output, [](double x, double dy) { return x > 0 ? dy : 0.0; });
}

Result<void> silu(const Attributes& /*attributes*/, Operands operands, Tensor& output) {
  return each(*operands[0], output, [](double x) { return x / (1 + std::exp(-x)); });
}

Result<void> sum(const Attributes& /*attributes*/, Operands operands, Tensor& output) {
  return fold(operands, output, [](double a, double b) { return a + b; });
}

Result<void> max(const Attributes& /*attributes*/, Operands operands, Tensor& output) {
  return fold(operands, output, [](double a, double b) { return std::max(a, b); });
}

}  // namespace tutti::reference
