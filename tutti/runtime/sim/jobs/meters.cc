#include "tutti/runtime/sim/jobs/meters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace tutti {
namespace {

// Some request is outstanding sooner than many are: the share of time with any, by the use.
double any_outstanding(double use) {
  return 1 - std::pow(1 - use, 4);
}

}  // namespace

std::vector<Counter> usual_counters(const Machine& machine) {
  std::vector<Counter> counters;
  const auto add = [&](const char* what, const char* unit, const Resource& resource,
                       Quantity quantity, int threshold = 0) {
    counters.push_back({fmt::format("{}.{}{}", resource_name(machine, resource), what,
                                    threshold > 0 ? std::to_string(threshold) : ""),
                        unit, resource, quantity, threshold});
  };
  const SharedResources all(machine);
  for (const SharedResource& item : all.list()) {
    const Resource& resource = item.resource;
    switch (resource.kind) {
      case Resource::Kind::core:
      case Resource::Kind::device:
        add("busy", "share", resource, Quantity::busy);
        break;
      case Resource::Kind::memory:
        if (std::none_of(machine.hosts().begin(), machine.hosts().end(),
                         [&](const Host& h) { return resource_of(h.memory) == resource; }))
          break;
        add("traffic", "B/s", resource, Quantity::traffic);
        add("waiting", "share", resource, Quantity::waiting);
        for (const int threshold : {1, 4, 16})
          add("outstanding", "share", resource, Quantity::outstanding, threshold);
        break;
      case Resource::Kind::channel: {
        const std::string& name = machine.channel(ChannelId{resource.index}).name;
        const auto& switches = machine.spec().switches;
        const bool is_switch = std::any_of(switches.begin(), switches.end(),
                                           [&](const auto& s) { return s.name == name; });
        if (!is_switch) add("traffic", "B/s", resource, Quantity::traffic);
        add("waiting", "share", resource, Quantity::waiting);
        break;
      }
      case Resource::Kind::machine:
      case Resource::Kind::host:
      case Resource::Kind::cache:
        break;
    }
  }
  return counters;
}

JobSimOptions default_job_sim_options(double unknown_load) {
  JobSimOptions options;
  options.truth = {.link = 0.9, .switched = 0.75, .memory = 0.85, .cache = 0.9, .root = 0.9};
  options.unknown_load = {.share = unknown_load,
                          .flows = 4,
                          .mean_on = std::chrono::milliseconds(100),
                          .mean_off = std::chrono::milliseconds(40)};
  return options;
}

Meters::Meters(const Cluster& cluster, const JobSimOptions& options,
               std::span<const double> capacities)
    : cluster_(cluster),
      options_(options),
      capacities_(capacities.begin(), capacities.end()),
      drawn_(capacities.size(), 0.0),
      full_(capacities.size(), 0.0),
      mean_use_(capacities.size(), 0.0),
      mean_full_(capacities.size(), 0.0) {
  if (options.counters.empty()) return;
  for (const Counter& counter : options.counters) {
    const int32_t index = cluster.resources().find(counter.resource);
    const bool is_rate = counter.quantity == Quantity::traffic && index >= 0;
    scale_.push_back(options.reading_error * (is_rate ? cluster.resources()[index].capacity : 1));
  }
  auto source = std::make_unique<SimulatedSource>(options.counters);
  source_ = source.get();
  std::vector<std::unique_ptr<CounterSource>> sources;
  sources.push_back(std::move(source));
  sampler_ = std::make_unique<Sampler>(std::move(sources));
}

void Meters::reset(uint64_t seed) {
  rng_ = Rng(seed);
  elapsed_ = 0;
  for (std::vector<double>* list : {&drawn_, &full_, &mean_use_, &mean_full_})
    std::fill(list->begin(), list->end(), 0.0);
}

void Meters::pass(Duration time, std::span<const double> used, std::span<const uint8_t> full) {
  const auto ns = static_cast<double>(time.count());
  elapsed_ += ns;
  for (size_t r = 0; r < drawn_.size(); ++r) {
    drawn_[r] += used[r] * ns;
    full_[r] += full[r] * ns;
  }
}

void Meters::close(std::vector<CounterReading>& readings) {
  if (elapsed_ <= 0) return;
  for (size_t r = 0; r < drawn_.size(); ++r) {
    mean_use_[r] = drawn_[r] / elapsed_;
    mean_full_[r] = full_[r] / elapsed_;
    drawn_[r] = full_[r] = 0;
  }
  elapsed_ = 0;
  if (!sampler_) return;
  std::vector<double> truth;
  for (const Counter& counter : options_.counters) truth.push_back(value_of(counter));
  for (int reading = 0; reading < options_.readings; ++reading) {
    std::vector<double> values(truth);
    for (size_t i = 0; i < values.size(); ++i) values[i] += scale_[i] * rng_.normal();
    source_->push(std::move(values));
    sampler_->sample();
  }
  readings = sampler_->take();
}

double Meters::utilisation(const Resource& resource) const {
  const Machine& machine = cluster_.machine();
  double sum = 0;
  int count = 0;
  const auto add = [&](const Resource& part) {
    const int32_t index = cluster_.resources().find(part);
    if (index >= 0) sum += mean_use_[index] / capacities_[index];
    ++count;
  };
  if (resource.kind == Resource::Kind::device && is_cpu(machine, DeviceId{resource.index})) {
    const DeviceId device{resource.index};
    for (int core = 0; core < cores_of(machine.device(device)); ++core) add(core_of(device, core));
  } else if (resource.kind == Resource::Kind::machine) {
    for (size_t h = 0; h < machine.hosts().size(); ++h)
      add(resource_of(HostId{static_cast<int32_t>(h)}));
  } else {
    add(resource);
  }
  return sum / count;
}

double Meters::waiting(const Resource& resource) const {
  const int32_t index = cluster_.resources().find(resource);
  return index < 0 ? 0 : mean_full_[index];
}

double Meters::value_of(const Counter& counter) const {
  const int32_t index = cluster_.resources().find(counter.resource);
  switch (counter.quantity) {
    case Quantity::busy:
      return utilisation(counter.resource);
    case Quantity::traffic:
      return index < 0 ? 0 : mean_use_[index];
    case Quantity::waiting:
      return waiting(counter.resource);
    case Quantity::outstanding: {
      // Geometric, so that the share at the true threshold is the use.
      const double use = std::clamp(utilisation(counter.resource), 1e-9, 1.0);
      const double threshold = std::max(1.5, options_.truth.outstanding_threshold);
      return any_outstanding(use) * std::pow(use, (counter.threshold - 1) / (threshold - 1));
    }
    case Quantity::other:
      break;
  }
  return std::nan("");
}

}  // namespace tutti
