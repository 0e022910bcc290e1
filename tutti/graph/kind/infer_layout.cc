#include <fmt/format.h>

#include <algorithm>
#include <numeric>

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

bool overlap(const Shape& a_at, const Shape& a, const Shape& b_at, const Shape& b) {
  for (size_t i = 0; i < a.size(); ++i) {
    if (a_at[i] + a[i] <= b_at[i] || b_at[i] + b[i] <= a_at[i]) return false;
  }
  return element_count(a) > 0 && element_count(b) > 0;
}

// The axis along which blocks begin at the most places.
size_t finest_axis(const std::vector<Shape>& offsets) {
  size_t finest = 0;
  size_t most = 0;
  for (size_t axis = 0; axis < offsets[0].size(); ++axis) {
    std::vector<int64_t> begins;
    begins.reserve(offsets.size());
    for (const Shape& at : offsets) begins.push_back(at[axis]);
    std::sort(begins.begin(), begins.end());
    const auto places = static_cast<size_t>(
        std::distance(begins.begin(), std::unique(begins.begin(), begins.end())));
    if (places > most) finest = axis;
    most = std::max(most, places);
  }
  return finest;
}

// Compares each block with those that begin before its end along one axis: of a grid, a few.
Result<void> check_disjoint(const std::vector<Shape>& offsets, Shapes blocks) {
  if (offsets.empty() || offsets[0].empty()) return {};
  const size_t axis = finest_axis(offsets);
  std::vector<size_t> order(offsets.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return offsets[a][axis] < offsets[b][axis]; });
  for (size_t i = 0; i < order.size(); ++i) {
    const size_t a = order[i];
    for (size_t j = i + 1; j < order.size(); ++j) {
      const size_t b = order[j];
      if (offsets[b][axis] >= offsets[a][axis] + blocks[a][axis]) break;
      if (overlap(offsets[a], blocks[a], offsets[b], blocks[b])) {
        return invalid_input(
            fmt::format("blocks {} and {} overlap", std::min(a, b), std::max(a, b)));
      }
    }
  }
  return {};
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
  if (auto checked = check_disjoint(*offsets, operands); !checked) return checked.error();
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
