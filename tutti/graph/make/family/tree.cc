#include <fmt/format.h>

#include <cmath>

#include "tutti/graph/make/family/family.h"

namespace tutti {
namespace {

// The level of size arity^depth, counted from the root.
std::string level_name(int64_t depth, int64_t i) {
  return fmt::format("level{}.{}", depth, i);
}

Skeleton inwards(const TreeSpec& spec, int64_t leaves) {
  Skeleton skeleton(fmt::format("tree_in_{}_{}", spec.levels, spec.arity));
  std::vector<int32_t> before;
  int64_t width = leaves;
  for (int64_t depth = spec.levels - 1; depth >= 0; --depth) {
    std::vector<int32_t> level;
    for (int64_t i = 0; i < width; ++i) {
      std::span<const int32_t> children;
      if (!before.empty()) {
        children = std::span<const int32_t>(before).subspan(static_cast<size_t>(i * spec.arity),
                                                            static_cast<size_t>(spec.arity));
      }
      level.push_back(
          skeleton.add(level_name(depth, i), before.empty() ? "leaf" : "merge", children));
    }
    before = std::move(level);
    width /= spec.arity;
  }
  return skeleton;
}

Skeleton outwards(const TreeSpec& spec) {
  Skeleton skeleton(fmt::format("tree_out_{}_{}", spec.levels, spec.arity));
  std::vector<int32_t> before = {skeleton.add(level_name(0, 0), "root", {})};
  for (int64_t depth = 1; depth < spec.levels; ++depth) {
    std::vector<int32_t> level;
    for (const int32_t& parent : before) {
      for (int64_t i = 0; i < spec.arity; ++i) {
        level.push_back(skeleton.add(level_name(depth, static_cast<int64_t>(level.size())),
                                     "divide", {&parent, 1}));
      }
    }
    before = std::move(level);
  }
  return skeleton;
}

}  // namespace

Result<Graph> make_tree(const TreeSpec& spec) {
  if (spec.levels < 1 || spec.arity < 1) {
    return invalid_input("a tree has at least 1 level and an arity of at least 1");
  }
  const double leaves =
      std::pow(static_cast<double>(spec.arity), static_cast<double>(spec.levels - 1));
  if (auto fits = check_made(2 * std::max(leaves, static_cast<double>(spec.levels)),
                             spec.weights.most_made);
      !fits) {
    return fits.error();
  }
  const Skeleton skeleton = spec.direction == TreeSpec::Direction::in
                                ? inwards(spec, std::llround(leaves))
                                : outwards(spec);
  return skeleton.dress(spec.weights);
}

}  // namespace tutti
