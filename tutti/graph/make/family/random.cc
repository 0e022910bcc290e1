#include "tutti/base/random.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tutti/graph/make/family/family.h"

namespace tutti {
namespace {

// A whole number with that mean: the one below or the one above.
int64_t draw_near(double mean, Rng& rng) {
  const double below = std::floor(mean);
  return static_cast<int64_t>(below) + (rng.uniform() < mean - below ? 1 : 0);
}

// `count` different numbers from [first, end), ascending, by Floyd's method (Bentley and Floyd,
// CACM 1987).
std::vector<int32_t> draw_some(int64_t first, int64_t end, int64_t count, Rng& rng) {
  std::vector<int32_t> drawn;
  for (int64_t last = end - count; last < end; ++last) {
    auto number = static_cast<int32_t>(
        first + static_cast<int64_t>(rng.below(static_cast<uint64_t>(last - first + 1))));
    if (std::find(drawn.begin(), drawn.end(), number) != drawn.end()) {
      number = static_cast<int32_t>(last);
    }
    drawn.push_back(number);
  }
  std::sort(drawn.begin(), drawn.end());
  return drawn;
}

}  // namespace

Result<Graph> make_random(const RandomSpec& spec) {
  constexpr double kMostOperands = 1000;  // draw_some looks at all it has drawn
  if (spec.ops < 1) return invalid_input("a random graph has at least 1 op");
  if (!(spec.degree >= 1 && spec.degree <= kMostOperands)) {
    return invalid_input("an op of a random graph reads from 1 to 1000 values on average");
  }
  if (spec.window < 0) return invalid_input("the window of a random graph is at least 0");
  const double ops = static_cast<double>(spec.ops);
  if (auto fits = check_made(ops * (1 + spec.degree), spec.weights.most_made); !fits)
    return fits.error();
  Skeleton skeleton(fmt::format("random_{}", spec.ops));
  Rng rng = Rng(spec.weights.seed).split(1);
  for (int64_t i = 0; i < spec.ops; ++i) {
    const int64_t first = spec.window == 0 ? 0 : std::max<int64_t>(i - spec.window, 0);
    const int64_t count = std::min(draw_near(spec.degree, rng), i - first);
    skeleton.add(fmt::format("op{}", i), "work", draw_some(first, i, count, rng));
  }
  return skeleton.dress(spec.weights);
}

}  // namespace tutti
