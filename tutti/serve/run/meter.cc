#include "tutti/serve/run/meter.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <thread>

#include "tutti/base/mutex.h"
#include "tutti/belief/belief.h"
#include "tutti/machine/discover.h"
#include "tutti/policy/symphony/model.h"
#include "tutti/telemetry/available.h"
#include "tutti/telemetry/sampler.h"

namespace tutti {
namespace {

constexpr auto kBetweenReadings = std::chrono::milliseconds(100);
constexpr int kReadings = 10;  // between two beliefs

std::vector<std::unique_ptr<CounterSource>> sources_of(const Machine& machine) {
  std::vector<std::unique_ptr<CounterSource>> sources;
  for (AvailableSource& item : available_sources(machine)) {
    if (item.source != nullptr) sources.push_back(std::move(item.source));
  }
  return sources;
}

// The bounds between which 95 of 100 parts of the weight lie.
std::pair<double, double> interval_of(const Samples& samples, VariableId id) {
  std::vector<std::pair<double, double>> weighted;  // value and weight
  const auto values = samples.column(id);
  for (size_t i = 0; i < values.size(); ++i) weighted.emplace_back(values[i], samples.weights[i]);
  std::sort(weighted.begin(), weighted.end());
  std::pair<double, double> bounds{weighted.front().first, weighted.back().first};
  double below = 0;
  for (const auto& [value, weight] : weighted) {
    if (below <= 0.025) bounds.first = value;
    below += weight;
    if (below >= 0.975) {
      bounds.second = value;
      break;
    }
  }
  return bounds;
}

class HostMeter : public Meter {
 public:
  explicit HostMeter(const Machine& host)
      : sampler_(sources_of(host)), belief_(host, sampler_.counters()) {
    thread_ = std::thread([this] { work(); });
  }
  ~HostMeter() override {
    {
      MutexLock lock(mutex_);
      ends_ = true;
      woken_.notify_all();
    }
    thread_.join();
  }

  std::vector<Utilisation> now() const override {
    MutexLock lock(mutex_);
    return latest_;
  }

 private:
  void work() {
    const std::vector<double> constants = first_constants(belief_.network());
    uint64_t round = 0;
    while (true) {
      for (int i = 0; i < kReadings; ++i) {
        {
          MutexLock lock(mutex_);
          if (!ends_) woken_.wait_for(mutex_, kBetweenReadings);
          if (ends_) return;
        }
        sampler_.sample();
      }
      std::vector<Utilisation> fresh =
          believed(belief_, sampler_.counters(),
                   belief_.infer(constants, {.readings = sampler_.take()}, {.seed = ++round}));
      MutexLock lock(mutex_);
      latest_ = std::move(fresh);
    }
  }

  Sampler sampler_;
  Belief belief_;
  mutable Mutex mutex_;
  std::condition_variable_any woken_;
  bool ends_ GUARDED_BY(mutex_) = false;
  std::vector<Utilisation> latest_ GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace

std::vector<Utilisation> believed(const Belief& belief, std::span<const Counter> counters,
                                  const Inferred& inferred) {
  const auto is_counted = [&](const Resource& resource) {
    return std::any_of(counters.begin(), counters.end(), [&](const Counter& counter) {
      return counter.quantity != Quantity::other && counter.resource == resource;
    });
  };
  std::vector<Utilisation> all;
  for (size_t r = 0; r < belief.resources().size(); ++r) {
    const Believed& about = belief.resources()[r];
    const auto [low, high] = interval_of(inferred.samples, about.variable);
    const auto share = [](double number) { return std::clamp(number, 0.0, 1.0); };
    all.push_back(
        {about.name, share(inferred.mean[r]), share(low), share(high), is_counted(about.resource)});
  }
  return all;
}

Result<std::unique_ptr<Meter>> make_host_meter() {
  const Result<Machine> host = discover_machine();
  if (!host) return host.error();
  return std::unique_ptr<Meter>(std::make_unique<HostMeter>(*host));
}

}  // namespace tutti
