#include "tutti/base/statistics.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numeric>
#include <vector>

#include "tutti/base/check.h"

namespace tutti {
double student_quantile(double share, double freedom) {
  return boost::math::quantile(boost::math::students_t(freedom), share);
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
