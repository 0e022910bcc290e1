#include "tutti/graph/make/shard/expert.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace tutti {

Result<void> check_devices(int32_t devices) {
  constexpr int32_t kMost = 65536;
  if (devices >= 1 && devices <= kMost) return {};
  return invalid_input(
      fmt::format("a workload is made for 1 to {} devices, not {}", kMost, devices));
}

int32_t block_cyclic(int64_t row, int64_t column, int64_t rows, int64_t columns, int32_t devices) {
  std::tuple<int64_t, int64_t> best{-1, 0};  // devices used, less the longer side of the grid
  int64_t high = 1;
  for (int64_t side = 1; side <= devices; ++side) {
    if (devices % side != 0) continue;
    const int64_t other = devices / side;
    const std::tuple<int64_t, int64_t> worth{std::min(side, rows) * std::min(other, columns),
                                             -std::max(side, other)};
    if (worth > best) {
      best = worth;
      high = side;
    }
  }
  const int64_t wide = devices / high;
  return static_cast<int32_t>((row % high) * wide + column % wide);
}

Expert grid_expert(int32_t devices) {
  return [devices](const BlockPlace& place) {
    const bool is_empty = place.indices.empty();
    const int64_t rows = is_empty ? 1 : place.of(place.indices.front());
    const int64_t row = is_empty ? 0 : place.at(place.indices.front());
    const bool has_columns = place.indices.size() > 1;
    const int64_t columns = has_columns ? place.of(place.indices.back()) : 1;
    const int64_t column = has_columns ? place.at(place.indices.back()) : 0;
    if (rows * columns >= devices) return block_cyclic(row, column, rows, columns, devices);
    int64_t number = row * columns + column;
    int64_t count = rows * columns;
    for (const IndexId index : place.summed) {
      number = number * place.of(index) + place.at(index);
      count *= place.of(index);
    }
    return static_cast<int32_t>(number * devices / count);
  };
}

}  // namespace tutti
