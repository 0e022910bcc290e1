#include "tutti/graph/import/hlo/flops.h"

#include <algorithm>
#include <cmath>

#include "tutti/graph/import/hlo/opcodes.h"

namespace tutti {
namespace {

double elements_of(const HloType& type) {
  return type.leaves.empty() ? 0 : type.leaves.front().elements();
}

double first_elements(std::span<const HloType* const> operands) {
  return operands.empty() ? 0 : elements_of(*operands[0]);
}

// A multiplication and an addition for each output and each number it is summed over.
double dot_flops(const HloParts& parts, std::span<const HloType* const> operands) {
  double summed = 1;
  if (!operands.empty() && !operands[0]->leaves.empty()) {
    const std::vector<int64_t>& dims = operands[0]->leaves[0].dims;
    for (const int64_t dim : hlo_numbers(parts.attribute("lhs_contracting_dims"))) {
      if (dim >= 0 && dim < static_cast<int64_t>(dims.size())) {
        summed *= static_cast<double>(dims[static_cast<size_t>(dim)]);
      }
    }
  }
  return 2 * elements_of(parts.type) * summed;
}

// Each output is a sum over the kernel but for its output features: dim_labels=b01f_01io->b01f. The
// kernel's input features are those of one group already.
double convolution_flops(const HloParts& parts, std::span<const HloType* const> operands) {
  if (operands.size() < 2 || operands[1]->leaves.empty()) return 0;
  const std::vector<int64_t>& kernel = operands[1]->leaves[0].dims;
  const std::string_view labels = parts.attribute("dim_labels");
  const size_t begin = std::min(labels.find('_'), labels.size());
  const size_t end = std::min(labels.find("->"), labels.size());
  double summed = 1;
  for (size_t i = 0; i < kernel.size(); ++i) {
    const size_t label = begin + 1 + i;
    if (label < end && labels[label] == 'o') continue;
    summed *= static_cast<double>(kernel[i]);
  }
  return 2 * elements_of(parts.type) * summed;
}

double window_elements(const HloParts& parts) {
  const std::string_view window = parts.attribute("window");
  const size_t begin = window.find("size=");
  if (begin == std::string_view::npos) return 1;
  const std::string_view sizes = window.substr(begin + 5);
  double elements = 1;
  for (const int64_t size : hlo_numbers(sizes.substr(0, sizes.find_first_of(" }")))) {
    elements *= static_cast<double>(std::max(size, int64_t{0}));
  }
  return elements;
}

}  // namespace

HloFlops hlo_flops(const HloParts& parts, std::span<const HloType* const> operands,
                   double applied) {
  const std::string_view opcode = parts.opcode;
  const double outputs = elements_of(parts.type);
  const double once = std::max(applied, 1.0);
  if (hlo_moves_only(opcode)) return {};
  if (hlo_is_elementwise(opcode) && opcode != "convert" && opcode != "copy") return {outputs};
  if (opcode == "dot") return {dot_flops(parts, operands)};
  if (opcode == "convolution") return {convolution_flops(parts, operands)};
  if (opcode == "reduce" || opcode == "all-reduce" || opcode == "all-reduce-start" ||
      opcode == "reduce-scatter") {
    return {first_elements(operands) * once};
  }
  if (opcode == "all-reduce-done") return {};
  if (opcode == "map") return {outputs * once};
  if (opcode == "reduce-window") return {outputs * window_elements(parts) * once};
  if (opcode == "select-and-scatter") {
    return {operands.size() < 2 ? 0 : elements_of(*operands[1]) * window_elements(parts) * once};
  }
  if (opcode == "scatter") {
    return {operands.size() < 3 ? 0 : elements_of(*operands[2]) * once};
  }
  if (opcode == "sort" || opcode == "topk") {
    const double count = first_elements(operands);
    return {count * std::log2(std::max(count, 2.0))};
  }
  // Mean, variance, and then to subtract, scale, multiply and add.
  if (opcode == "batch-norm-training") return {9 * first_elements(operands)};
  if (opcode == "batch-norm-inference") return {5 * first_elements(operands)};
  if (opcode == "batch-norm-grad") return {12 * first_elements(operands)};
  if (opcode == "rng" || opcode == "rng-bit-generator") return {10 * outputs};
  if (opcode == "cholesky") {
    const auto& dims = parts.type.leaves.front().dims;
    return {outputs * (dims.empty() ? 1 : static_cast<double>(dims.back())) / 3};
  }
  if (opcode == "triangular-solve") {
    if (operands.empty() || operands[0]->leaves.empty()) return {};
    const auto& dims = operands[0]->leaves[0].dims;
    return {outputs * (dims.empty() ? 1 : static_cast<double>(dims.back()))};
  }
  return {0, false};
}

}  // namespace tutti
