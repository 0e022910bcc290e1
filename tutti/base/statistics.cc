#include "tutti/base/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "tutti/base/check.h"

namespace tutti {
namespace {

// Pr(|T| <= sqrt(nu) tan(angle)) for a whole nu: a finite sum of powers of the cosine (Abramowitz
// and Stegun 26.7.3 and 26.7.4).
double whole_mass(double angle, int freedom) {
  const double cosine = std::cos(angle);
  const bool odd = freedom % 2 == 1;
  double term = odd ? cosine : 1;
  double sum = 0;
  for (int k = odd ? 3 : 2; k <= freedom; k += 2) {
    sum += term;
    term *= cosine * cosine * (k - 1) / k;
  }
  sum *= std::sin(angle);
  return odd ? (angle + sum) / std::acos(0.0) : sum;
}

// The same for any nu, up to a factor: with that substitution the density is proportional to
// cos(a)^(nu - 1), which is integrated by Simpson's rule.
double any_mass(double angle, double freedom) {
  constexpr int kSteps = 400;
  const double step = angle / kSteps;
  double sum = 0;
  for (int i = 0; i <= kSteps; ++i) {
    const double value = std::pow(std::max(std::cos(i * step), 0.0), freedom - 1);
    sum += value * (i == 0 || i == kSteps ? 1 : i % 2 == 1 ? 4 : 2);
  }
  return sum * step / 3;
}

double student_mass(double angle, double freedom) {
  constexpr double kMostTerms = 1000;
  const bool whole = freedom == std::floor(freedom) && freedom >= 1 && freedom <= kMostTerms;
  return whole ? whole_mass(angle, static_cast<int>(freedom)) : any_mass(angle, freedom);
}

}  // namespace

double student_quantile(double share, double freedom) {
  const double half_pi = std::acos(0.0);
  const double wanted = std::abs(share - 0.5) * 2 * student_mass(half_pi, freedom);
  double least = 0;
  double most = half_pi;
  for (int i = 0; i < 50; ++i) {
    const double middle = (least + most) / 2;
    (student_mass(middle, freedom) < wanted ? least : most) = middle;
  }
  const double t = std::sqrt(freedom) * std::tan((least + most) / 2);
  return share < 0.5 ? -t : t;
}

Summary summary_of(std::span<const double> samples) {
  TUTTI_CHECK(!samples.empty());
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  const auto count = static_cast<double>(sorted.size());
  Summary summary{.count = sorted.size(),
                  .mean = std::accumulate(sorted.begin(), sorted.end(), 0.0) / count,
                  .median = (sorted[(sorted.size() - 1) / 2] + sorted[sorted.size() / 2]) / 2,
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
