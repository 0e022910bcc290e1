#include <fmt/format.h>

#include <algorithm>

#include "tutti/graph/kind/infer.h"

namespace tutti::infer {
namespace {

// A block of `shape` that begins at `at` lies within `whole`.
bool within(const Shape& at, const Shape& shape, const Shape& whole) {
  if (at.size() != whole.size() || shape.size() != whole.size()) return false;
  for (size_t i = 0; i < whole.size(); ++i) {
    if (at[i] < 0 || shape[i] < 0 || at[i] > whole[i] - shape[i]) return false;
  }
  return true;
}

}  // namespace

Result<OpFacts> transpose(const Attributes& attributes, Shapes operands) {
  const auto permutation = attributes.wholes("permutation");
  if (!permutation) return permutation.error();
  std::vector<int64_t> sorted = *permutation;
  std::sort(sorted.begin(), sorted.end());
  bool good = sorted.size() == operands[0].size();
  for (size_t i = 0; good && i < sorted.size(); ++i) good = sorted[i] == static_cast<int64_t>(i);
  if (!good) {
    return invalid_input(fmt::format("'{}' is no permutation of {} dimensions",
                                     wholes_text(*permutation), operands[0].size()));
  }
  OpFacts facts;
  for (const int64_t axis : *permutation) {
    facts.output.push_back(operands[0][static_cast<size_t>(axis)]);
  }
  return facts;
}

Result<OpFacts> assemble(const Attributes& attributes, Shapes operands) {
  const auto shape = attributes.wholes("shape");
  if (!shape) return shape.error();
  const auto offsets = attributes.rows("offsets");
  if (!offsets) return offsets.error();
  if (offsets->size() != operands.size()) {
    return invalid_input(
        fmt::format("{} offsets are given for {} blocks", offsets->size(), operands.size()));
  }
  double filled = 0;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (!within((*offsets)[i], operands[i], *shape)) {
      return invalid_input(
          fmt::format("block {} does not lie within the shape {}", i, wholes_text(*shape)));
    }
    filled += element_count(operands[i]);
  }
  if (filled != element_count(*shape)) {
    return invalid_input(fmt::format("the blocks do not fill the shape {}", wholes_text(*shape)));
  }
  return OpFacts{.output = *shape};
}

Result<OpFacts> slice(const Attributes& attributes, Shapes operands) {
  const auto begin = attributes.wholes("begin");
  if (!begin) return begin.error();
  const auto shape = attributes.wholes("shape");
  if (!shape) return shape.error();
  if (!within(*begin, *shape, operands[0])) {
    return invalid_input(fmt::format("a slice of shape {} at {} does not lie within shape {}",
                                     wholes_text(*shape), wholes_text(*begin),
                                     wholes_text(operands[0])));
  }
  return OpFacts{.output = *shape, .elements_moved = 2 * element_count(*shape)};
}

// Reads one row of the table for each id, and not the rest of it.
Result<OpFacts> embedding(const Attributes& attributes, Shapes operands) {
  if (const auto first = attributes.whole("first_row", 0); !first) return first.error();
  if (operands[1].size() != 2) return invalid_input("the table of an embedding has two dimensions");
  OpFacts facts{.output = operands[0]};
  facts.output.push_back(operands[1][1]);
  facts.elements_moved = element_count(operands[0]) + 2 * element_count(facts.output);
  return facts;
}

Result<OpFacts> last_token(const Attributes& /*attributes*/, Shapes operands) {
  const Shape& shape = operands[0];
  if (shape.size() != 3 || shape[1] == 0) {
    return invalid_input("last_token reads (sequence, position, element)");
  }
  const Shape output = {shape[0], shape[2]};
  return OpFacts{.output = output, .elements_moved = 2 * element_count(output)};
}

}  // namespace tutti::infer
