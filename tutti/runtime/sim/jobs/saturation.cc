#include "tutti/runtime/sim/jobs/saturation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "tutti/base/check.h"
#include "tutti/base/random.h"
#include "tutti/base/statistics.h"
#include "tutti/runtime/sim/jobs/in_system.h"
#include "tutti/runtime/sim/jobs/job_simulator.h"

namespace tutti {
namespace {

constexpr int kBatches = 20;
constexpr double kSignificance = 0.01;
constexpr double kMostJobsPerS = 1e9;  // one per nanosecond, the unit of time

double four_digits(double value) {
  const double unit = std::pow(10.0, std::floor(std::log10(value)) - 3);
  return unit < 1 ? std::floor(value * std::round(1 / unit)) / std::round(1 / unit)
                  : std::floor(value / unit) * unit;
}

// Poisson arrivals at one job per nanosecond, given that each half of the time has half of them.
// Jobs come in rounds, each of the whole list in another order. A cluster keeps up with these and
// with independent draws alike, but the result depends less on the seed.
std::vector<std::pair<double, std::shared_ptr<const Job>>> even_arrivals(const JobList& jobs,
                                                                         int count, uint64_t seed) {
  Rng rng = Rng(seed).split(0x73617475);
  std::vector<double> times;
  for (int i = 0; i < count; ++i) {
    const double half = i < count / 2 ? 0 : count / 2.0;
    times.push_back(half + rng.uniform() * count / 2.0);
  }
  std::sort(times.begin(), times.end());
  JobList round;
  std::vector<std::pair<double, std::shared_ptr<const Job>>> arrivals;
  for (const double time : times) {
    if (round.empty()) round = jobs;
    std::swap(round[rng.below(round.size())], round.back());
    arrivals.emplace_back(time, std::move(round.back()));
    round.pop_back();
  }
  return arrivals;
}

class SaturationSearch {
 public:
  SaturationSearch(const Cluster& cluster, const JobList& jobs, JobSimOptions options,
                   uint64_t seed, const SaturationSettings& settings)
      : cluster_(cluster),
        arrivals_(even_arrivals(jobs, settings.jobs, seed)),
        seed_(seed),
        settings_(settings),
        sim_(cluster, std::move(options)) {}

  int runs() const { return runs_; }

  // A first guess: jobs that arrive together, divided by the time until they have ended.
  Result<double> guess(const SaturationDecider& decider) {
    const int count = std::clamp(settings_.jobs / 20, 1, 100);
    std::vector<Arrival> arrivals;
    for (int i = 0; i < count; ++i) arrivals.push_back({Duration(0), arrivals_[i].second});
    const Result<JobsRecord> run =
        run_jobs(sim_, std::move(arrivals), *decider.make(), seed_, kMostDecisions, settings_.stop);
    if (!run) return run.error();
    const auto ns = static_cast<double>(std::max<int64_t>(1, run->makespan.count()));
    return std::min(kMostJobsPerS, 1e9 * count / ns);
  }

  Result<bool> is_stable(const SaturationDecider& named, double jobs_per_s) {
    ++runs_;
    const double interval_ns = 1e9 / jobs_per_s;
    std::vector<Arrival> arrivals;
    for (const auto& [time, job] : arrivals_)
      arrivals.push_back({nanoseconds_of(time * interval_ns), job});
    const Duration end = nanoseconds_of(settings_.jobs * interval_ns);
    const auto decider = named.make();
    decider->begin(cluster_, seed_);
    sim_.reset(std::move(arrivals), seed_);
    const auto most = static_cast<size_t>(std::max(8, settings_.jobs / 8));
    while (!sim_.done() && sim_.state().now < end) {
      if (sim_.state().in_system.size() > most) return false;
      if (settings_.stop.now()) return failed("stopped while the saturation was being found");
      const Result<double> reward = sim_.step(decider->decide(sim_.state()));
      if (!reward) return Error{reward.error().kind, named.name + ": " + reward.error().message};
    }
    return !has_upward_trend(jobs_in_system(sim_.jobs(), end / 2, end, kBatches));
  }

  // The highest stable rate from `low` on, which is stable: a step up at a time, then bisection.
  Result<double> highest(const SaturationDecider& decider, double low) {
    double high = low;
    for (bool stable = true; stable;) {
      low = high;
      high *= kStep;
      if (high > kMostJobsPerS) return low;
      const Result<bool> good = is_stable(decider, high);
      if (!good) return good.error();
      stable = *good;
    }
    return bisect(decider, low, high);
  }

  // The same below `high`, which is not stable.
  Result<double> highest_below(const SaturationDecider& decider, double high) {
    for (int step = 0; step < kMostSteps; ++step, high /= kStep) {
      const Result<bool> good = is_stable(decider, high / kStep);
      if (!good) return good.error();
      if (*good) return bisect(decider, high / kStep, high);
    }
    return failed(
        fmt::format("with {} jobs no rate was found that the cluster keeps up with; take more jobs",
                    settings_.jobs));
  }

 private:
  static constexpr double kStep = 1.25;
  static constexpr int kMostSteps = 40;  // down to 1 / 7,500

  Result<double> bisect(const SaturationDecider& decider, double low, double high) {
    while (high > low * (1 + settings_.precision)) {
      const double middle = std::sqrt(low * high);
      const Result<bool> good = is_stable(decider, middle);
      if (!good) return good.error();
      (*good ? low : high) = middle;
    }
    return low;
  }

  const Cluster& cluster_;
  std::vector<std::pair<double, std::shared_ptr<const Job>>> arrivals_;
  uint64_t seed_;
  const SaturationSettings& settings_;
  JobSimulator sim_;
  int runs_ = 0;
};

}  // namespace

bool has_upward_trend(std::span<const double> batch_means) {
  const auto n = static_cast<double>(batch_means.size());
  TUTTI_CHECK(n >= 3);
  const double middle = (n - 1) / 2;
  double mean = 0;
  for (const double y : batch_means) mean += y / n;
  double xx = 0;
  double xy = 0;
  for (size_t i = 0; i < batch_means.size(); ++i) {
    const double x = static_cast<double>(i) - middle;
    xx += x * x;
    xy += x * (batch_means[i] - mean);
  }
  const double slope = xy / xx;
  double residuals = 0;
  for (size_t i = 0; i < batch_means.size(); ++i) {
    const double off = batch_means[i] - mean - slope * (static_cast<double>(i) - middle);
    residuals += off * off;
  }
  const double error = std::sqrt(residuals / (n - 2) / xx);
  return slope > student_quantile(1 - kSignificance, n - 2) * error && slope > 1e-12;
}

Result<Saturation> find_saturation(const Cluster& cluster, const JobList& jobs,
                                   JobSimOptions options,
                                   std::span<const SaturationDecider> deciders, uint64_t seed,
                                   const SaturationSettings& settings) {
  TUTTI_CHECK(!jobs.empty() && !deciders.empty() && settings.jobs > 0);
  options.counters.clear();
  options.record = false;
  options.measured_delay = false;
  SaturationSearch search(cluster, jobs, std::move(options), seed, settings);
  double best = 0;
  Saturation found;
  for (const SaturationDecider& decider : deciders) {
    // The first is sought around a guess; another only above what was found.
    double start = best * (1 + settings.precision);
    if (best == 0) {
      const Result<double> guessed = search.guess(decider);
      if (!guessed) return guessed.error();
      start = *guessed;
    }
    const Result<bool> stable = search.is_stable(decider, start);
    if (!stable) return stable.error();
    if (!*stable && best > 0) continue;
    const Result<double> rate =
        *stable ? search.highest(decider, start) : search.highest_below(decider, start);
    if (!rate) return rate.error();
    best = *rate;
    found.decider = decider.name;
  }
  found.jobs_per_s = four_digits(best);
  found.runs = search.runs();
  return found;
}

}  // namespace tutti
