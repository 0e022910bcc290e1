#include "tutti/belief/draws.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "tutti/base/statistics.h"

namespace tutti {
namespace {

constexpr double kCentral = 0.95;
constexpr int kMostTabled = 63;  // degrees of freedom
constexpr int kIntervals = 512;  // of a table, equal shares of the central 95 %

using Table = std::array<double, kIntervals + 1>;

// The quantiles of t for one freedom. With t = sqrt(freedom) tan(angle) the density of the angle is
// cos(angle)^(freedom - 1), which is summed up in small steps.
Table quantiles_of(int freedom) {
  constexpr int kSteps = 8000;
  const double step = std::acos(0.0) / kSteps;
  std::vector<double> mass(kSteps + 1, 0.0);  // from 0 to each angle
  const auto density = [&](int i) { return std::pow(std::cos(i * step), freedom - 1); };
  for (int i = 1; i <= kSteps; ++i) {
    const double end = i == kSteps && freedom > 1 ? 0 : density(i);
    mass[static_cast<size_t>(i)] = mass[static_cast<size_t>(i) - 1] + 0.5 * (density(i - 1) + end);
  }
  Table table{};
  for (int k = 0; k <= kIntervals / 2; ++k) {
    const double wanted = kCentral * (2.0 * k / kIntervals) * mass.back();
    const auto above = std::upper_bound(mass.begin(), mass.end(), wanted);
    const auto place = static_cast<size_t>(above - mass.begin()) - 1;
    const double part = (wanted - mass[place]) / (mass[place + 1] - mass[place]);
    const double t = std::sqrt(static_cast<double>(freedom)) *
                     std::tan((static_cast<double>(place) + part) * step);
    table[static_cast<size_t>(kIntervals / 2 + k)] = t;
    table[static_cast<size_t>(kIntervals / 2 - k)] = -t;
  }
  return table;
}

// All that are ever used, worked out when the first is asked for.
const Table& table_of(int freedom) {
  static const std::vector<Table> tables = [] {
    std::vector<Table> made;
    for (int f = 1; f <= kMostTabled; ++f) made.push_back(quantiles_of(f));
    return made;
  }();
  return tables[static_cast<size_t>(freedom) - 1];
}

}  // namespace

void draw_normals(Rng& rng, int count, double* out) {
  constexpr double kA[] = {-3.969683028665376e+01, 2.209460984245205e+02,  -2.759285104469687e+02,
                           1.383577518672690e+02,  -3.066479806614716e+01, 2.506628277459239e+00};
  constexpr double kB[] = {-5.447609879822406e+01, 1.615858368580409e+02, -1.556989798598866e+02,
                           6.680131188771972e+01, -1.328068155288572e+01};
  constexpr double kC[] = {-7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e+00,
                           -2.549732539343734e+00, 4.374664141464968e+00,  2.938163982698783e+00};
  constexpr double kD[] = {7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00,
                           3.754408661907416e+00};
  constexpr double kTail = 0.02425;
  constexpr double kHalfStep = 0x1.0p-54;  // never exactly 0
  for (int i = 0; i < count; ++i) out[i] = rng.uniform() + kHalfStep - 0.5;
  // The middle for all, in vector instructions; then the one in twenty that is not there.
  std::array<double, 64> share;
  for (int first = 0; first < count; first += static_cast<int>(share.size())) {
    const int some = std::min(count - first, static_cast<int>(share.size()));
    double* x = out + first;
    std::copy_n(x, some, share.begin());
    for (int i = 0; i < some; ++i) {
      const double q = x[i];
      const double r = q * q;
      x[i] = (((((kA[0] * r + kA[1]) * r + kA[2]) * r + kA[3]) * r + kA[4]) * r + kA[5]) * q /
             (((((kB[0] * r + kB[1]) * r + kB[2]) * r + kB[3]) * r + kB[4]) * r + 1);
    }
    for (int i = 0; i < some; ++i) {
      if (std::fabs(share[i]) < 0.5 - kTail) continue;
      const double q = std::sqrt(-2 * std::log(0.5 - std::fabs(share[i])));
      const double tail =
          (((((kC[0] * q + kC[1]) * q + kC[2]) * q + kC[3]) * q + kC[4]) * q + kC[5]) /
          ((((kD[0] * q + kD[1]) * q + kD[2]) * q + kD[3]) * q + 1);
      x[i] = share[i] < 0 ? tail : -tail;
    }
  }
}

void draw_central_t(Rng& rng, int freedom, int count, double* out) {
  if (freedom > kMostTabled) {
    const double most = central_bound(freedom);
    for (int i = 0; i < count; ++i) {
      do {
        out[i] = rng.student_t(freedom);
      } while (std::fabs(out[i]) > most);
    }
    return;
  }
  const Table& table = table_of(freedom);
  for (int i = 0; i < count; ++i) {
    const double at = kIntervals * rng.uniform();
    const auto place = static_cast<size_t>(at);
    out[i] = table[place] + (at - static_cast<double>(place)) * (table[place + 1] - table[place]);
  }
}

double central_bound(int freedom) {
  return freedom > kMostTabled ? student_quantile(0.5 + kCentral / 2, freedom)
                               : table_of(freedom).back();
}

}  // namespace tutti
