#include <fmt/format.h>

#include "tutti/graph/make/family/family.h"

namespace tutti {

Result<Graph> make_all_to_all(const AllToAllSpec& spec) {
  if (spec.width < 1 || spec.phases < 1) {
    return invalid_input("an all-to-all graph has at least 1 phase of at least 1 op");
  }
  const auto width = static_cast<double>(spec.width);
  if (auto fits = check_made(static_cast<double>(spec.phases) * width * (width + 1),
                             spec.weights.most_made);
      !fits) {
    return fits.error();
  }
  Skeleton skeleton(fmt::format("all_to_all_{}_{}", spec.width, spec.phases));
  std::vector<int32_t> before;
  for (int64_t phase = 0; phase < spec.phases; ++phase) {
    std::vector<int32_t> row;
    for (int64_t i = 0; i < spec.width; ++i) {
      row.push_back(skeleton.add(fmt::format("work.{}.{}", phase, i), "work", before));
    }
    before = std::move(row);
  }
  return skeleton.dress(spec.weights);
}

}  // namespace tutti
