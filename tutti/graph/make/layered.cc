#include "tutti/graph/make/layered.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/base/random.h"
#include "tutti/graph/builder.h"
#include "tutti/graph/limits.h"

namespace tutti {
namespace {

constexpr std::array<std::string_view, 6> kKinds = {"matmul",  "add",       "softmax",
                                                    "reshape", "layernorm", "gelu"};

int32_t layer_width(const LayeredSpec& spec) {
  if (spec.width > 0) return std::min(spec.width, spec.ops);
  const auto root = static_cast<int32_t>(std::lround(std::sqrt(static_cast<double>(spec.ops))));
  return std::clamp(root, 1, 1000);
}

Result<void> check(const LayeredSpec& spec) {
  if (spec.ops < 1) return invalid_input("a layered graph needs at least 1 op");
  if (spec.width < 0) return invalid_input("the width of a layered graph is at least 0");
  if (spec.operands < 0) return invalid_input("an op of a layered graph has at least 0 operands");
  if (spec.bytes < 0 || spec.bytes > kMostBytes / 2) {
    return invalid_input("the bytes of a layered graph are from 0 to 2^59");
  }
  if (!(spec.flops >= 0 && spec.flops <= kMostFlops / 2)) {
    return invalid_input("the flops of a layered graph are a finite number of at least 0");
  }
  const double edges_of_an_op = std::min(spec.operands, layer_width(spec));
  return check_made(static_cast<double>(spec.ops) * (1 + edges_of_an_op), spec.most_made);
}

// Draws from the first `count` values of the layer without repeating one: the first steps of a
// Fisher-Yates shuffle, which may start from any order.
void draw_front(std::vector<ValueId>& layer, int32_t count, Rng& rng) {
  for (int32_t i = 0; i < count; ++i) {
    const uint64_t left = layer.size() - static_cast<uint64_t>(i);
    std::swap(layer[i], layer[static_cast<uint64_t>(i) + rng.below(left)]);
  }
}

}  // namespace

Result<Graph> make_layered(const LayeredSpec& spec) {
  if (auto checked = check(spec); !checked) return checked.error();
  const int32_t width = layer_width(spec);
  GraphBuilder builder(fmt::format("layered_{}", spec.ops));
  Rng rng(spec.seed);
  std::vector<ValueId> before;
  std::vector<ValueId> layer;
  std::string name;
  std::vector<ValueSpec> outputs(1);
  for (int32_t i = 0; i < spec.ops && !builder.too_large(); ++i) {
    if (i % width == 0) {
      before.swap(layer);
      layer.clear();
    }
    const auto count = std::min(spec.operands, static_cast<int32_t>(before.size()));
    draw_front(before, count, rng);
    name.clear();
    fmt::format_to(std::back_inserter(name), "op{}", i);
    outputs[0].bytes = std::llround((0.5 + rng.uniform()) * static_cast<double>(spec.bytes));
    const OpId op = builder.add_op({.name = name,
                                    .kind = kKinds[rng.below(kKinds.size())],
                                    .operands = {before.data(), static_cast<size_t>(count)},
                                    .outputs = outputs,
                                    .flops = (0.5 + rng.uniform()) * spec.flops});
    if (op.valid()) layer.push_back(builder.outputs(op).front());
  }
  return std::move(builder).build();
}

}  // namespace tutti
