#include "tutti/belief/student_t.h"

#include <algorithm>
#include <cmath>

#include "tutti/base/check.h"

namespace tutti {
namespace {

constexpr double kPi = 3.141592653589793;

double density(double t, int freedom) {
  const double nu = freedom;
  return std::exp(std::lgamma((nu + 1) / 2) - std::lgamma(nu / 2)) / std::sqrt(nu * kPi) *
         std::pow(1 + t * t / nu, -(nu + 1) / 2);
}

}  // namespace

// Abramowitz and Stegun 26.7.3 and 26.7.4: with tan(a) = t / sqrt(freedom), Pr(|T| <= t) is a
// finite sum of powers of cos(a).
double student_t_cdf(double t, int freedom) {
  TUTTI_CHECK(freedom >= 1);
  freedom = std::min(freedom, kMostFreedom);
  const double angle = std::atan(std::fabs(t) / std::sqrt(static_cast<double>(freedom)));
  const double cosine = std::cos(angle);
  const bool odd = freedom % 2 == 1;
  double term = odd ? cosine : 1;
  double sum = 0;
  for (int k = odd ? 3 : 2; k <= freedom; k += 2) {
    sum += term;
    term *= cosine * cosine * (k - 1) / k;
  }
  sum *= std::sin(angle);
  const double inside = odd ? 2 / kPi * (angle + sum) : sum;
  return t >= 0 ? 0.5 + inside / 2 : 0.5 - inside / 2;
}

double student_t_quantile(double p, int freedom) {
  TUTTI_CHECK(p > 0 && p < 1);
  freedom = std::clamp(freedom, 1, kMostFreedom);
  // An interval that holds it, then Newton's steps as long as they stay inside.
  double low = -1;
  double high = 1;
  while (student_t_cdf(low, freedom) > p) low *= 2;
  while (student_t_cdf(high, freedom) < p) high *= 2;
  double t = (low + high) / 2;
  for (int i = 0; i < 100 && high - low > 1e-13 * (1 + std::fabs(t)); ++i) {
    const double off = student_t_cdf(t, freedom) - p;
    (off > 0 ? high : low) = t;
    const double step = t - off / density(t, freedom);
    const double next = step > low && step < high ? step : (low + high) / 2;
    if (std::fabs(next - t) < 1e-14 * (1 + std::fabs(t))) break;
    t = next;
  }
  return t;
}

CounterBelief belief_of(const CounterReading& reading) {
  TUTTI_CHECK(reading.count >= 1);
  const bool few = reading.count < kFewestReadings;
  const double spread =
      few ? std::max(reading.spread, kDoubtfulShare * std::fabs(reading.mean)) : reading.spread;
  const int freedom = few ? kFewestReadings - 1 : reading.count - 1;
  return {.center = reading.mean,
          .scale = spread / std::sqrt(static_cast<double>(reading.count)),
          .freedom = freedom,
          .most = student_t_quantile(0.975, freedom)};
}

}  // namespace tutti
