#include "tutti/search/throughput/balance.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace tutti {
namespace {

// A smooth stand-in for the largest load, which also prefers the others low: the 16-norm.
double norm_of(const DeviceLoads& loads, int32_t devices, double scale) {
  double sum = 0;
  for (int32_t device = 0; device < devices; ++device) {
    double part = loads.load_ns(device) / scale;
    part *= part;
    part *= part;
    part *= part;
    sum += part * part;
  }
  return std::pow(sum, 1.0 / 16);
}

class Balancing {
 public:
  Balancing(const LoadModel& model, std::vector<int32_t> start, uint64_t seed)
      : model_(model), loads_(model, std::move(start)), rng_(seed) {
    for (const UnitFlow& flow : model.flows()) {
      if (flow.from < 0) continue;
      neighbours_.resize(static_cast<size_t>(model.units()));
      constexpr size_t kMostReaders = 16;
      for (size_t i = 0; i < std::min(flow.to.size(), kMostReaders); ++i) {
        neighbours_[static_cast<size_t>(flow.from)].push_back(flow.to[i]);
        neighbours_[static_cast<size_t>(flow.to[i])].push_back(flow.from);
      }
    }
    neighbours_.resize(static_cast<size_t>(model.units()));
  }

  std::vector<int32_t> run(const Balance& how) {
    std::vector<int32_t> best = loads_.placement();
    double best_load = loads_.largest_ns();
    if (best_load <= 0 || model_.units() == 0) return best;
    const double scale = best_load;
    double norm = norm_of(loads_, model_.devices(), scale);
    constexpr double kColdest = 2e-5;
    for (int64_t i = 0; i < how.moves; ++i) {
      if (i % 1024 == 0 && how.stop.now()) break;
      const double done = static_cast<double>(i) / static_cast<double>(how.moves);
      const double heat = how.heat * std::pow(kColdest / how.heat, done);
      const int32_t unit = any_unit();
      const int32_t from = loads_.device_of(unit);
      const int32_t other = rng_.below(4) == 0 ? any_unit() : -1;
      const int32_t to = other >= 0 ? loads_.device_of(other) : target(unit);
      if (to == from || !can_run(unit, to) || (other >= 0 && !can_run(other, from))) continue;
      loads_.move(unit, to);
      if (other >= 0) loads_.move(other, from);
      const bool fits = loads_.bytes(to) <= loads_.limit_bytes(to) + 0.5 &&
                        loads_.bytes(from) <= loads_.limit_bytes(from) + 0.5;
      const double changed =
          fits ? norm_of(loads_, model_.devices(), scale) : std::numeric_limits<double>::infinity();
      if (changed <= norm || rng_.uniform() < std::exp((norm - changed) / heat)) {
        norm = changed;
        const double load = loads_.largest_ns();
        // Beyond what rounding in the running sums can be.
        if (load < best_load * (1 - 1e-12)) {
          best_load = load;
          best = loads_.placement();
        }
        continue;
      }
      if (other >= 0) loads_.move(other, to);
      loads_.move(unit, from);
    }
    return best;
  }

 private:
  bool can_run(int32_t unit, int32_t device) const {
    return model_.work_ns(unit, device) < std::numeric_limits<double>::infinity();
  }

  int32_t any_unit() {
    return static_cast<int32_t>(rng_.below(static_cast<uint64_t>(model_.units())));
  }

  // Mostly where a neighbour is.
  int32_t target(int32_t unit) {
    const auto& near = neighbours_[static_cast<size_t>(unit)];
    if (!near.empty() && rng_.below(8) != 0) {
      return loads_.device_of(near[rng_.below(near.size())]);
    }
    return static_cast<int32_t>(rng_.below(static_cast<uint64_t>(model_.devices())));
  }

  const LoadModel& model_;
  DeviceLoads loads_;
  Rng rng_;
  std::vector<std::vector<int32_t>> neighbours_;
};

}  // namespace

std::vector<int32_t> balanced(const LoadModel& model, const std::vector<int32_t>& start,
                              const Balance& how) {
  std::vector<int32_t> result = Balancing(model, start, how.seed).run(how);
  // The sums are fresh here, and the promise is kept whatever rounding did.
  const DeviceLoads before(model, start);
  const DeviceLoads after(model, result);
  return after.fits() && after.largest_ns() <= before.largest_ns() ? result : start;
}

}  // namespace tutti
