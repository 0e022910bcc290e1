#include <fmt/format.h>

#include <array>
#include <bit>

#include "tutti/graph/make/family/family.h"

namespace tutti {

Result<Graph> make_fft(const FftSpec& spec) {
  if (spec.points < 1 || !std::has_single_bit(static_cast<uint64_t>(spec.points))) {
    return invalid_input(fmt::format("an FFT has a power of two of points, not {}", spec.points));
  }
  const int levels = std::countr_zero(static_cast<uint64_t>(spec.points));
  const double ops = static_cast<double>(spec.points) * (levels + 1);
  if (auto fits = check_made(3 * ops, spec.weights.most_made); !fits) return fits.error();
  Skeleton skeleton(fmt::format("fft_{}", spec.points));
  std::vector<int32_t> before;
  for (int64_t i = 0; i < spec.points; ++i) {
    before.push_back(skeleton.add(fmt::format("point.{}", i), "point", {}));
  }
  for (int level = 0; level < levels; ++level) {
    std::vector<int32_t> row;
    for (size_t i = 0; i < before.size(); ++i) {
      const std::array<int32_t, 2> pair = {before[i], before[i ^ (size_t{1} << level)]};
      row.push_back(skeleton.add(fmt::format("butterfly.{}.{}", level, i), "butterfly", pair));
    }
    before = std::move(row);
  }
  return skeleton.dress(spec.weights);
}

}  // namespace tutti
