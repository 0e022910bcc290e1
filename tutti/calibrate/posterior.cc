#include "tutti/calibrate/posterior.h"

#include <algorithm>
#include <cmath>

#include "tutti/base/check.h"

namespace tutti {
namespace {

constexpr double kFreedom = 4;
// Before there are samples: as two samples that spread like this.
constexpr double kPriorCount = 2;
constexpr double kPriorScale = 0.03;

// The cumulative sum: residuals are cut, a drift this large is let pass, and the alarm rings at
// that height. Spreads below kLeastScale are taken for it: a clock that changes by some per cent
// is no news.
constexpr double kCut = 2.5;
constexpr double kAllowed = 1;
constexpr double kAlarm = 9;
constexpr double kLeastScale = 0.03;
constexpr size_t kLeastKnown = 8;  // samples before anything can be found to have changed
constexpr double kFar = 8;         // scales away: an outlier

double weight(double residual) {
  return (kFreedom + 1) / (kFreedom + residual * residual);
}

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<long>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

struct Fit {
  double location = 0;
  double scale = 0;
};

// The mode of the posterior, by expectation and maximisation from the median.
Fit fit(std::span<const double> logs) {
  const auto count = static_cast<double>(logs.size());
  Fit found{.location = median_of({logs.begin(), logs.end()})};
  std::vector<double> distances;
  distances.reserve(logs.size());
  for (const double log : logs) distances.push_back(std::abs(log - found.location));
  found.scale = std::max(median_of(distances), kPriorScale / 4);
  for (int round = 0; round < 100; ++round) {
    double mass = 0;
    double sum = 0;
    for (const double log : logs) {
      const double w = weight((log - found.location) / found.scale);
      mass += w;
      sum += w * log;
    }
    const double location = sum / mass;
    double squares = kPriorCount * kPriorScale * kPriorScale;
    for (const double log : logs) {
      const double w = weight((log - found.location) / found.scale);
      squares += w * (log - location) * (log - location);
    }
    const double scale = std::sqrt(squares / (count + kPriorCount));
    const bool settled = std::abs(location - found.location) < 1e-9 * scale &&
                         std::abs(scale - found.scale) < 1e-9 * scale;
    found = {location, scale};
    if (settled) break;
  }
  return found;
}

// The share of Student's distribution below t, by the substitution of noise.cc: with
// t = sqrt(nu) tan(a) the density is proportional to cos(a)^(nu - 1).
double student_share(double t, double freedom) {
  constexpr int kSteps = 2000;
  const double half_pi = std::acos(0.0);
  const auto mass = [&](double to) {  // from 0 on, by Simpson's rule
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

Posterior::Estimate estimate_of(std::span<const double> logs) {
  TUTTI_CHECK(!logs.empty());
  const Fit found = fit(logs);
  const auto count = static_cast<double>(logs.size());
  double mass = 0;
  double sum = 0;
  for (const double log : logs) {
    const double w = weight((log - found.location) / found.scale);
    mass += w;
    sum += w * std::exp(log - found.location);
  }
  // Fisher's information about the location is (nu + 1) / (nu + 3) / scale^2 for each sample.
  return {.location = found.location,
          .standard_error = found.scale * std::sqrt((kFreedom + 3) / (kFreedom + 1) / count),
          .freedom = count - 1 + kPriorCount,
          .mean_ns = std::exp(found.location) * sum / mass,
          .spread = found.scale * std::sqrt(kFreedom / (kFreedom - 2))};
}

Posterior::Estimate::Interval Posterior::Estimate::interval(double probability) const {
  const double half = standard_error * student_quantile((1 + probability) / 2, freedom);
  return {std::exp(location - half), std::exp(location + half)};
}

Posterior::Estimate Posterior::estimate() const {
  return estimate_of(logs_);
}

std::optional<Change> Posterior::add(double ns) {
  TUTTI_CHECK(ns > 0);
  const double log = std::log(ns);
  ++count_;
  std::optional<Change> change = watch(log);
  logs_.push_back(log);
  if (change) {  // what was before is history
    const auto kept = static_cast<size_t>(excursion_);
    const std::span<const double> before(logs_.data(), logs_.size() - kept);
    const std::span<const double> since(logs_.data() + before.size(), kept);
    change->ratio = std::exp(fit(since).location - fit(before).location);
    change->since = count_ - excursion_;
    logs_.erase(logs_.begin(), logs_.begin() + static_cast<long>(before.size()));
    rise_ = fall_ = 0;
    excursion_ = 0;
  }
  if (logs_.size() > kKept) logs_.erase(logs_.begin());
  return change;
}

// Residuals are against the samples from before the sums left 0: those since then may be of the
// changed duration, and must not soften it.
std::optional<Change> Posterior::watch(double log) {
  const auto excursion = static_cast<size_t>(excursion_);
  if (logs_.size() < kLeastKnown + excursion) {
    // Too little is known, or the sums have been up for so long that nothing older is left.
    rise_ = fall_ = 0;
    excursion_ = 0;
    return std::nullopt;
  }
  const std::span<const double> known(logs_.data(), logs_.size() - excursion);
  const Fit expected = fit(known);
  const double error = expected.scale * std::sqrt(1.4 / static_cast<double>(known.size()));
  const double scale = std::max(std::hypot(expected.scale, error), kLeastScale);
  const double residual = (log - expected.location) / scale;
  outliers_ += std::abs(residual) > kFar ? 1 : 0;
  const double cut = std::clamp(residual, -kCut, kCut);
  rise_ = std::max(0.0, rise_ + cut - kAllowed);
  fall_ = std::max(0.0, fall_ - cut - kAllowed);
  excursion_ = rise_ > 0 || fall_ > 0 ? excursion_ + 1 : 0;
  if (std::max(rise_, fall_) < kAlarm) return std::nullopt;
  return Change{};
}

Posterior::State Posterior::state() const {
  return {.logs = logs_,
          .count = count_,
          .outliers = outliers_,
          .rise = rise_,
          .fall = fall_,
          .excursion = excursion_};
}

Posterior Posterior::from(State state) {
  Posterior posterior;
  posterior.logs_ = std::move(state.logs);
  posterior.count_ = state.count;
  posterior.outliers_ = state.outliers;
  posterior.rise_ = state.rise;
  posterior.fall_ = state.fall;
  posterior.excursion_ = state.excursion;
  return posterior;
}

}  // namespace tutti
