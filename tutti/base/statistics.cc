#include "tutti/base/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "tutti/base/check.h"

namespace tutti {
namespace {

// The share of Student's distribution below t: with t = sqrt(nu) tan(a) the density is proportional
// to cos(a)^(nu - 1), which is integrated by Simpson's rule.
double student_share(double t, double freedom) {
  constexpr int kSteps = 2000;
  const double half_pi = std::acos(0.0);
  const auto mass = [&](double to) {
    const double step = to / kSteps;
    double sum = 0;
    for (int i = 0; i <= kSteps; ++i) {
      const double value = std::pow(std::cos(std::min(i * step, half_pi)), freedom - 1);
      sum += value * (i == 0 || i == kSteps ? 1 : i % 2 == 1 ? 4 : 2);
    }
    return sum * step / 3;
  };
  const double angle = std::atan(std::abs(t) / std::sqrt(freedom));
  const double half = mass(angle) / mass(half_pi) / 2;
  return t < 0 ? 0.5 - half : 0.5 + half;
}

}  // namespace

double student_quantile(double share, double freedom) {
  double least = -1e3;
  double most = 1e3;
  for (int i = 0; i < 60; ++i) {
    const double middle = (least + most) / 2;
    (student_share(middle, freedom) < share ? least : most) = middle;
  }
  return (least + most) / 2;
}

Summary summary_of(std::span<const double> samples) {
  TUTTI_CHECK(!samples.empty());
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  const auto count = static_cast<double>(sorted.size());
  Summary summary{.count = sorted.size(),
                  .mean = std::accumulate(sorted.begin(), sorted.end(), 0.0) / count,
                  .median = sorted[sorted.size() / 2],
                  .least = sorted.front(),
                  .most = sorted.back()};
  if (sorted.size() < 2) return summary;
  double squares = 0;
  for (const double sample : sorted) squares += (sample - summary.mean) * (sample - summary.mean);
  summary.deviation = std::sqrt(squares / (count - 1));
  summary.half_interval = student_quantile(0.975, count - 1) * summary.deviation / std::sqrt(count);
  return summary;
}

}  // namespace tutti
