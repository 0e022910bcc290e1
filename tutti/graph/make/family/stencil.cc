#include <fmt/format.h>

#include <algorithm>

#include "tutti/graph/make/family/family.h"

namespace tutti {

Result<Graph> make_stencil(const StencilSpec& spec) {
  if (spec.width < 1 || spec.steps < 1 || spec.radius < 0) {
    return invalid_input("a stencil has at least 1 cell and 1 step, and a radius of at least 0");
  }
  const int64_t radius = std::min(spec.radius, spec.width);
  const double cells = static_cast<double>(spec.width) * static_cast<double>(spec.steps);
  if (auto fits = check_made(cells * (2 + 2 * static_cast<double>(radius)), spec.weights.most_made);
      !fits) {
    return fits.error();
  }
  Skeleton skeleton(fmt::format("stencil_{}_{}", spec.width, spec.steps));
  std::vector<int32_t> before;
  for (int64_t step = 0; step < spec.steps; ++step) {
    std::vector<int32_t> row;
    for (int64_t i = 0; i < spec.width; ++i) {
      std::span<const int32_t> near;
      if (!before.empty()) {
        const int64_t first = std::max<int64_t>(i - radius, 0);
        const int64_t last = std::min(i + radius, spec.width - 1);
        near = std::span<const int32_t>(before).subspan(static_cast<size_t>(first),
                                                        static_cast<size_t>(last - first + 1));
      }
      row.push_back(skeleton.add(fmt::format("cell.{}.{}", step, i), "cell", near));
    }
    before = std::move(row);
  }
  return skeleton.dress(spec.weights);
}

}  // namespace tutti
