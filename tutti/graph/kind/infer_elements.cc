#include <fmt/format.h>

#include "tutti/graph/kind/infer.h"

namespace tutti::infer {
namespace {

OpFacts per_element(const Shape& shape, double flops) {
  return {.output = shape, .flops = flops * element_count(shape)};
}

// The attribute `axis`, by default the last; negative ones count from behind.
Result<size_t> axis_of(const Attributes& attributes, const Shape& shape) {
  const Result<int64_t> axis = attributes.whole("axis", -1);
  if (!axis) return axis.error();
  const auto rank = static_cast<int64_t>(shape.size());
  if (*axis < -rank || *axis >= rank) {
    return invalid_input(fmt::format("axis {} is none of {} dimensions", *axis, rank));
  }
  return static_cast<size_t>(*axis < 0 ? *axis + rank : *axis);
}

}  // namespace

Result<OpFacts> unary(const Attributes& /*attributes*/, Shapes operands) {
  return per_element(operands[0], 1);
}

Result<OpFacts> scale(const Attributes& attributes, Shapes operands) {
  if (const auto factor = attributes.number("factor", 1); !factor) return factor.error();
  return per_element(operands[0], 1);
}

// x / (1 + exp(-x)), and the sign.
Result<OpFacts> silu(const Attributes& /*attributes*/, Shapes operands) {
  return per_element(operands[0], 4);
}

Result<OpFacts> binary(const Attributes& attributes, Shapes operands) {
  const auto text = attributes.text("einsum");
  if (!text) return alike(attributes, operands);
  const Result<Einsum> einsum = parse_einsum(*text, operands[0], operands[1]);
  if (!einsum) return einsum.error();
  if (einsum->letters != einsum->out) {
    return invalid_input(fmt::format("einsum '{}' sums over an index; only matmul does", *text));
  }
  return per_element(einsum->output_shape(), 1);
}

Result<OpFacts> alike(const Attributes& /*attributes*/, Shapes operands) {
  for (const Shape& shape : operands) {
    if (shape != operands[0]) {
      return invalid_input(fmt::format("operands of shapes {} and {} differ",
                                       wholes_text(operands[0]), wholes_text(shape)));
    }
  }
  return per_element(operands[0], static_cast<double>(operands.size() - 1));
}

// Largest, difference, exp, sum, quotient.
Result<OpFacts> softmax(const Attributes& attributes, Shapes operands) {
  const Result<size_t> axis = axis_of(attributes, operands[0]);
  if (!axis) return axis.error();
  if (const auto row = attributes.whole("first_row", 0); !row) return row.error();
  if (attributes.text("first_row") && (operands[0].size() < 2 || *axis + 1 != operands[0].size())) {
    return invalid_input("a causal softmax needs rows and goes along the last axis");
  }
  return per_element(operands[0], 5);
}

// Square, sum, quotient, weight.
Result<OpFacts> rms_norm(const Attributes& attributes, Shapes operands) {
  if (const auto epsilon = attributes.number("epsilon", 0); !epsilon) return epsilon.error();
  if (operands[0].empty() || operands[1] != Shape{operands[0].back()}) {
    return invalid_input(fmt::format("weights of shape {} do not fit the last axis of shape {}",
                                     wholes_text(operands[1]), wholes_text(operands[0])));
  }
  return per_element(operands[0], 4);
}

// Four products and two sums for each pair.
Result<OpFacts> rope(const Attributes& attributes, Shapes operands) {
  const Result<size_t> axis = axis_of(attributes, operands[0]);
  if (!axis) return axis.error();
  if (const auto first = attributes.whole("first_position", 0); !first) return first.error();
  if (const auto base = attributes.number("base", 1); !base) return base.error();
  if (operands[0].back() % 2 != 0 || *axis + 1 == operands[0].size()) {
    return invalid_input("rope turns pairs: its last axis is even and is not that of positions");
  }
  return per_element(operands[0], 3);
}

Result<OpFacts> reduce(const Attributes& attributes, Shapes operands) {
  const Result<size_t> axis = axis_of(attributes, operands[0]);
  if (!axis) return axis.error();
  OpFacts facts{.output = operands[0]};
  if (facts.output[*axis] == 0) return invalid_input("an empty axis cannot be reduced");
  facts.output.erase(facts.output.begin() + static_cast<long>(*axis));
  facts.flops = element_count(operands[0]) - element_count(facts.output);
  return facts;
}

}  // namespace tutti::infer
