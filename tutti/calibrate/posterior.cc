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
// Median distances from the median; of Student's t it is 1.35.
constexpr double kMostScale = 3;
// Fisher's information about the location is 1 / (scale^2 times this) for each sample.
constexpr double kErrorFactor = (kFreedom + 3) / (kFreedom + 1);

// The cumulative sum: residuals are cut, a drift this large is let pass, and the alarm rings at
// that height. Spreads below kLeastScale are taken for it: a clock that changes by some per cent
// is no news.
constexpr double kCut = 2.5;
constexpr double kAllowed = 1;
constexpr double kAlarm = 9;
constexpr double kLeastScale = 0.03;
constexpr int64_t kLeastKnown = 8;    // runs before anything can be found to have changed
constexpr int64_t kLeastChanged = 3;  // the fewest runs that can be a change
constexpr double kDelayed = 5;        // scales above the location: late
constexpr double kMostDelay = 10;     // times the location
constexpr double kRecurs = 3;         // late runs: it will come again
constexpr double kFar = 8;            // scales away: an outlier

double weight(double residual) {
  return (kFreedom + 1) / (kFreedom + residual * residual);
}

// Of an even number the lower one: what is odd about a run makes it longer.
double lower_median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<long>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

using Samples = std::span<const Posterior::Sample>;

std::vector<double> logs_of(Samples samples) {
  std::vector<double> logs;
  logs.reserve(samples.size());
  for (const Posterior::Sample& sample : samples) logs.push_back(sample.log);
  return logs;
}

int64_t runs_in(Samples samples) {
  int64_t runs = 0;
  for (size_t i = 0; i < samples.size(); ++i) {
    runs += i == 0 || samples[i].run != samples[i - 1].run ? 1 : 0;
  }
  return runs;
}

double log_of_mean(std::span<const double> logs) {
  if (logs.size() == 1) return logs[0];
  double sum = 0;
  for (const double log : logs) sum += std::exp(log - logs[0]);
  return logs[0] + std::log(sum / static_cast<double>(logs.size()));
}

struct Fit {
  double location = 0;
  double scale = 0;
};

// The mode of the posterior, by expectation and maximisation from the median. Of two to five
// samples one far away would widen the scale until it has a weight again: the scale is held near
// the median distance.
Fit fit(Samples samples) {
  const std::vector<double> logs = logs_of(samples);
  const auto count = static_cast<double>(logs.size());
  Fit found{.location = lower_median_of(logs)};
  std::vector<double> distances;
  distances.reserve(logs.size());
  for (const double log : logs) distances.push_back(std::abs(log - found.location));
  const double distance = lower_median_of(std::move(distances));
  found.scale = std::max(distance, kPriorScale / 4);
  const double most_scale = std::max(kMostScale * distance, kPriorScale);
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
    const double scale = std::min(std::sqrt(squares / (count - 1 + kPriorCount)), most_scale);
    const bool settled = std::abs(location - found.location) < 1e-9 * scale &&
                         std::abs(scale - found.scale) < 1e-9 * scale;
    found = {location, scale};
    if (settled) break;
  }
  return found;
}

}  // namespace

namespace {

// What a run took: its mean, and the median, which one late sample of several leaves as it is.
struct RunTimes {
  std::vector<Posterior::Sample> means;
  std::vector<double> medians;  // logarithms too
};

RunTimes times_of_runs(Samples samples) {
  RunTimes times;
  for (size_t begin = 0; begin < samples.size();) {
    size_t end = begin;
    while (end < samples.size() && samples[end].run == samples[begin].run) ++end;
    std::vector<double> logs = logs_of(samples.subspan(begin, end - begin));
    times.means.push_back({log_of_mean(logs), samples[begin].run});
    times.medians.push_back(lower_median_of(std::move(logs)));
    begin = end;
  }
  return times;
}

// The mean of runs, by their weights. Of a run far above the others the median counts instead, if
// that is not late as well. What it had beyond that is an accident and adds nothing, unless it came
// in kRecurs runs: then each beyond the first counts, none as more than kMostDelay.
double mean_of(const RunTimes& runs) {
  const Fit found = fit(runs.means);
  const double late = kDelayed * found.scale;
  double mass = 0;
  double sum = 0;
  double late_runs = 0;
  double delays = 0;
  for (size_t i = 0; i < runs.means.size(); ++i) {
    const double mean = runs.means[i].log - found.location;
    const double median = runs.medians[i] - found.location;
    const double usual = mean < late ? mean : median;
    if (usual < late) {
      const double w = weight(usual / found.scale);
      mass += w;
      sum += w * std::exp(usual);
    }
    if (mean < late) continue;
    ++late_runs;
    delays += std::min(std::exp(mean) - (usual < late ? std::exp(usual) : 1), kMostDelay);
  }
  const auto count = static_cast<double>(runs.means.size());
  const double added = late_runs < kRecurs ? 0 : (late_runs - 1) / late_runs * delays / count;
  return std::exp(found.location) * (sum / mass + added);
}

}  // namespace

Posterior::Estimate Posterior::estimate() const {
  const Samples samples(state_.samples);
  TUTTI_CHECK(!samples.empty());
  const Fit found = fit(samples);
  const RunTimes times = times_of_runs(samples);
  const auto runs = static_cast<double>(times.means.size());
  return {.location = found.location,
          .standard_error = found.scale * std::sqrt(kErrorFactor / runs),
          .freedom = runs - 1 + kPriorCount,
          .mean_ns = mean_of(times),
          .spread = found.scale * std::sqrt(kFreedom / (kFreedom - 2))};
}

Posterior::Estimate::Interval Posterior::Estimate::interval(double probability) const {
  const double half = standard_error * student_quantile((1 + probability) / 2, freedom);
  return {std::exp(location - half), std::exp(location + half)};
}

int64_t Posterior::runs_kept() const {
  return runs_in(state_.samples);
}

std::optional<Change> Posterior::add(std::span<const double> ns) {
  TUTTI_CHECK(!ns.empty());
  std::vector<double> logs;
  for (const double time : ns) {
    TUTTI_CHECK(time > 0);
    logs.push_back(std::log(time));
  }
  state_.count += static_cast<int64_t>(logs.size());
  const bool changed = watch(logs);
  std::sort(logs.begin(), logs.end());
  const size_t taken = std::min(logs.size(), kOfOneRun);
  for (size_t i = 0; i < taken; ++i) {
    const size_t begin = i * logs.size() / taken;
    const size_t end = (i + 1) * logs.size() / taken;
    state_.samples.push_back(
        {log_of_mean(std::span(logs).subspan(begin, end - begin)), state_.runs});
  }
  ++state_.runs;
  std::optional<Change> change;
  if (changed) change = restart();
  auto& samples = state_.samples;
  if (samples.size() > kKept) {
    samples.erase(samples.begin(), samples.end() - static_cast<long>(kKept));
  }
  return change;
}

size_t Posterior::older_than(int64_t runs) const {
  size_t count = state_.samples.size();
  while (count > 0 && state_.samples[count - 1].run >= state_.runs - runs) --count;
  return count;
}

// Residuals are against the samples from before the sums left 0: those since then may be of the
// changed duration, and must not soften it.
bool Posterior::watch(std::span<const double> logs) {
  const Samples known =
      Samples(state_.samples).first(older_than(std::max(state_.rising, state_.falling)));
  if (runs_in(known) < kLeastKnown) {
    // Too little is known, or the sums have been up for so long that nothing older is left.
    state_.rise = state_.fall = 0;
    state_.rising = state_.falling = 0;
    return false;
  }
  const Fit expected = fit(known);
  const double error =
      expected.scale * std::sqrt(kErrorFactor / static_cast<double>(runs_in(known)));
  const double scale = std::max(std::hypot(expected.scale, error), kLeastScale);
  for (const double log : logs) {
    state_.outliers += std::abs(log - expected.location) > kFar * scale ? 1 : 0;
  }
  const double residual = (lower_median_of({logs.begin(), logs.end()}) - expected.location) / scale;
  const double cut = std::clamp(residual, -kCut, kCut);
  state_.rise = std::max(0.0, state_.rise + cut - kAllowed);
  state_.fall = std::max(0.0, state_.fall - cut - kAllowed);
  state_.rising = state_.rise > 0 ? state_.rising + 1 : 0;
  state_.falling = state_.fall > 0 ? state_.falling + 1 : 0;
  return std::max(state_.rise, state_.fall) >= kAlarm;
}

// What was before the change is history. The sum may have left 0 some runs before it: the change is
// where the runs since then fall apart best into those near the old location and the rest.
Change Posterior::restart() {
  const Samples all(state_.samples);
  const int64_t window = state_.rise > state_.fall ? state_.rising : state_.falling;
  const double before = fit(all.first(older_than(window))).location;
  int64_t kept = window;
  double least = std::numeric_limits<double>::infinity();
  for (int64_t some = window; some >= kLeastChanged; --some) {
    double distance = 0;
    for (size_t i = older_than(window); i < older_than(some); ++i) {
      distance += std::abs(all[i].log - before);
    }
    const Samples rest = all.subspan(older_than(some));
    const double about = lower_median_of(logs_of(rest));
    for (const Sample& sample : rest) distance += std::abs(sample.log - about);
    if (distance < least) {
      least = distance;
      kept = some;
    }
  }
  const size_t history = older_than(kept);
  const Change change{.ratio = std::exp(fit(all.subspan(history)).location - before),
                      .since = state_.runs - kept};
  state_.samples.erase(state_.samples.begin(), state_.samples.begin() + static_cast<long>(history));
  state_.rise = state_.fall = 0;
  state_.rising = state_.falling = 0;
  return change;
}

Posterior Posterior::from(State state) {
  Posterior posterior;
  posterior.state_ = std::move(state);
  return posterior;
}

}  // namespace tutti
