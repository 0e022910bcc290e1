#include "tutti/calibrate/posterior.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tutti/base/check.h"
#include "tutti/base/statistics.h"

namespace tutti {
namespace {

constexpr double kFreedom = 4;
// Before there are samples: as if one had been this far away.
constexpr double kPriorCount = 1;
constexpr double kPriorScale = 0.05;
// Fisher's information about the location is 1 / (scale^2 times this) for each sample.
constexpr double kErrorFactor = (kFreedom + 3) / (kFreedom + 1);

// The cumulative sum: residuals are cut, a drift this large is let pass, and the alarm rings at
// that height. Spreads below kLeastScale are taken for it: a clock that changes by some per cent
// is no news.
constexpr double kCut = 2.5;
constexpr double kAllowed = 1;
constexpr double kAlarm = 9;
constexpr double kLeastScale = 0.03;
constexpr size_t kLeastKnown = 8;    // samples before anything can be found to have changed
constexpr size_t kLeastChanged = 3;  // the fewest samples that can be a change
constexpr double kFar = 8;           // scales away: an outlier

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
  std::vector<double> weights(logs.size());
  for (int round = 0; round < 100; ++round) {
    double mass = 0;
    double sum = 0;
    for (size_t i = 0; i < logs.size(); ++i) {
      weights[i] = weight((logs[i] - found.location) / found.scale);
      mass += weights[i];
      sum += weights[i] * logs[i];
    }
    const double location = sum / mass;
    double squares = kPriorCount * kPriorScale * kPriorScale;
    for (size_t i = 0; i < logs.size(); ++i) {
      squares += weights[i] * (logs[i] - location) * (logs[i] - location);
    }
    // One sample less: the location was chosen to be near them.
    const double scale = std::sqrt(squares / (count - 1 + kPriorCount));
    const bool settled = std::abs(location - found.location) < 1e-9 * scale &&
                         std::abs(scale - found.scale) < 1e-9 * scale;
    found = {location, scale};
    if (settled) break;
  }
  return found;
}

}  // namespace

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
  return {.location = found.location,
          .standard_error = found.scale * std::sqrt(kErrorFactor / count),
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
  const bool changed = watch(log);
  logs_.push_back(log);
  std::optional<Change> change;
  if (changed) change = begin_anew();
  if (logs_.size() > kKept) logs_.erase(logs_.begin());
  return change;
}

// Residuals are against the samples from before the sums left 0: those since then may be of the
// changed duration, and must not soften it.
bool Posterior::watch(double log) {
  const auto since = static_cast<size_t>(std::max(rising_, falling_));
  if (logs_.size() < kLeastKnown + since) {
    // Too little is known, or the sums have been up for so long that nothing older is left.
    rise_ = fall_ = 0;
    rising_ = falling_ = 0;
    return false;
  }
  const std::span<const double> known(logs_.data(), logs_.size() - since);
  const Fit expected = fit(known);
  const double error = expected.scale * std::sqrt(kErrorFactor / static_cast<double>(known.size()));
  const double scale = std::max(std::hypot(expected.scale, error), kLeastScale);
  const double residual = (log - expected.location) / scale;
  outliers_ += std::abs(residual) > kFar ? 1 : 0;
  const double cut = std::clamp(residual, -kCut, kCut);
  rise_ = std::max(0.0, rise_ + cut - kAllowed);
  fall_ = std::max(0.0, fall_ - cut - kAllowed);
  rising_ = rise_ > 0 ? rising_ + 1 : 0;
  falling_ = fall_ > 0 ? falling_ + 1 : 0;
  return std::max(rise_, fall_) >= kAlarm;
}

// What was before the change is history. The sum may have left 0 some samples before it: the change
// is where the samples since then fall apart best into those near the old location and the rest.
Change Posterior::begin_anew() {
  const std::span<const double> all(logs_);
  const auto window = static_cast<size_t>(rise_ > fall_ ? rising_ : falling_);
  const double before = fit(all.first(all.size() - window)).location;
  size_t kept = window;
  double least = std::numeric_limits<double>::infinity();
  double old = 0;  // how far those that are put down to the old location are from it
  for (size_t some = window; some >= kLeastChanged; --some) {
    const auto rest = all.last(some);
    const double about = median_of({rest.begin(), rest.end()});
    double distance = old;
    for (const double log : rest) distance += std::abs(log - about);
    if (distance < least) {
      least = distance;
      kept = some;
    }
    old += std::abs(rest[0] - before);
  }
  const Change change{.ratio = std::exp(fit(all.last(kept)).location - before),
                      .since = count_ - static_cast<int64_t>(kept)};
  logs_.erase(logs_.begin(), logs_.end() - static_cast<long>(kept));
  rise_ = fall_ = 0;
  rising_ = falling_ = 0;
  return change;
}

Posterior::State Posterior::state() const {
  return {.logs = logs_,
          .count = count_,
          .outliers = outliers_,
          .rise = rise_,
          .fall = fall_,
          .rising = rising_,
          .falling = falling_};
}

Posterior Posterior::from(State state) {
  Posterior posterior;
  posterior.logs_ = std::move(state.logs);
  posterior.count_ = state.count;
  posterior.outliers_ = state.outliers;
  posterior.rise_ = state.rise;
  posterior.fall_ = state.fall;
  posterior.rising_ = state.rising;
  posterior.falling_ = state.falling;
  return posterior;
}

}  // namespace tutti
