#include "tutti/train/doppler/baseline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tutti/search/evaluate/evaluator.h"
#include "tutti/train/checkpoint.h"

namespace tutti {

void Past::add(const std::vector<double>& costs) {
  for (const double cost : costs) {
    if (cost == kNoPlan) continue;
    sum += cost;
    count += 1;
  }
}

std::vector<float> against_group(const std::vector<double>& costs) {
  Past all;
  all.add(costs);
  double squares = 0;
  for (const double cost : costs) {
    if (cost != kNoPlan) squares += cost * cost;
  }
  std::vector<float> found(costs.size(), 0.0F);
  if (all.count < 2) return found;
  const double mean = all.sum / all.count;
  const double deviation = std::sqrt(std::max(0.0, squares / all.count - mean * mean));
  if (deviation <= 1e-9 * mean) return found;
  for (size_t k = 0; k < costs.size(); ++k) {
    if (costs[k] == kNoPlan) continue;
    found[k] = static_cast<float>(std::clamp((mean - costs[k]) / deviation, -3.0, 3.0));
  }
  return found;
}

std::vector<float> against_past(Past past, const std::vector<double>& costs, double reference) {
  std::vector<float> found(costs.size(), 0.0F);
  for (size_t k = 0; k < costs.size(); ++k) {
    if (costs[k] == kNoPlan) continue;
    past.sum += costs[k];
    past.count += 1;
    found[k] = static_cast<float>((past.sum / past.count - costs[k]) / std::max(1.0, reference));
  }
  return found;
}

void keep_past(const std::string& name, const Past& past, TensorFile& file) {
  file.metadata[name + ".sum"] = exactly(past.sum);
  file.metadata[name + ".count"] = exactly(past.count);
}

Result<Past> kept_past(const std::string& name, const TensorFile& file, const std::string& path) {
  const auto sum = figure_in(file, name + ".sum", 0, path);
  if (!sum) return sum.error();
  const auto count = figure_in(file, name + ".count", 0, path);
  if (!count) return count.error();
  const bool fits = *count == std::floor(*count) && (*count > 0 || *sum == 0);
  if (fits) return Past{*sum, *count};
  return invalid_input(
      fmt::format("{}: '{}' has the sum {} of {} episodes; the checkpoint is "
                  "spoilt, begin in another folder",
                  path, name, *sum, *count));
}

}  // namespace tutti
