#include "studies/symphony/bench/belief_world.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tutti/base/check.h"

namespace tutti {
namespace {

constexpr int kGpus = 4;
constexpr double kStep = 50e-6;       // seconds
constexpr int kStepsPerReading = 50;  // 2.5 ms
constexpr double kMeanBytes = 8e6;    // of a transfer
constexpr double kFullShare = 0.999;  // a wire that carries this much is full

}  // namespace

World::World(const Machine& machine, const WorldOptions& options) : options_(options) {
  for (const auto& item : machine.spec().switches) switch_bytes_per_s_ = item.bytes_per_s;
  switch_ = add_wire(machine, "bridge", switch_bytes_per_s_, options.switch_capacity, false);
  // It has no limit of its own: what it carries is a share of the switch.
  host_in_ = add_wire(machine, "host-bridge>", switch_bytes_per_s_, 1e3, true);
  into_switch_.push_back(static_cast<size_t>(wires_[host_in_].traffic_counter));
  for (int g = 0; g < kGpus; ++g) {
    const std::string link = "gpu" + std::to_string(g) + "-pcie";
    double nominal = 0;
    for (const auto& spec : machine.spec().links) {
      if (spec.name == link) nominal = spec.bytes_per_s;
    }
    out_.push_back(add_wire(machine, link + ">", nominal, options.link_capacity, true));
    in_.push_back(add_wire(machine, link + "<", nominal, options.link_capacity, true));
    into_switch_.push_back(static_cast<size_t>(wires_[out_.back()].traffic_counter));
  }
}

int World::add_wire(const Machine& machine, const std::string& channel, double nominal,
                    double share, bool counts_traffic) {
  Resource resource;
  for (int32_t i = 0; i < machine.channel_count(); ++i) {
    if (machine.channel(ChannelId{i}).name == channel) resource = resource_of(ChannelId{i});
  }
  TUTTI_CHECK(resource.kind == Resource::Kind::channel && nominal > 0);
  Wire wire{.nominal = nominal, .capacity = nominal * share};
  if (counts_traffic) {
    wire.traffic_counter = static_cast<int>(counters_.size());
    counters_.push_back({channel + ".traffic", "B/s", resource, Quantity::traffic});
  }
  wire.waiting_counter = static_cast<int>(counters_.size());
  counters_.push_back({channel + ".waiting", "share", resource, Quantity::waiting});
  wires_.push_back(wire);
  return static_cast<int>(wires_.size()) - 1;
}

// Progressive filling: all rates grow alike; a flow that meets a full wire stays.
void World::share(const std::vector<Flow>& flows, std::vector<double>& rates,
                  std::vector<double>& loads) const {
  rates.assign(flows.size(), 0.0);
  loads.assign(wires_.size(), 0.0);
  std::vector<bool> growing(flows.size(), true);
  for (size_t left = flows.size(); left > 0;) {
    std::vector<int> users(wires_.size(), 0);
    for (size_t f = 0; f < flows.size(); ++f) {
      for (const int wire : flows[f].wires) users[wire] += growing[f] ? 1 : 0;
    }
    double more = std::numeric_limits<double>::infinity();
    for (size_t w = 0; w < wires_.size(); ++w) {
      if (users[w] > 0) more = std::min(more, (wires_[w].capacity - loads[w]) / users[w]);
    }
    for (size_t f = 0; f < flows.size(); ++f) {
      if (!growing[f]) continue;
      rates[f] += more;
      for (const int wire : flows[f].wires) loads[wire] += more;
    }
    for (size_t f = 0; f < flows.size(); ++f) {
      const auto& along = flows[f].wires;
      if (growing[f] && std::any_of(along.begin(), along.end(), [&](int w) {
            return loads[w] >= kFullShare * wires_[w].capacity;
          })) {
        growing[f] = false;
        --left;
      }
    }
  }
}

Epoch World::run(uint64_t seed) const {
  Rng rng(seed);
  // Transfers begin at random; how many, and between which GPUs, differs from epoch to epoch. Some
  // GPUs rest, so that now the links and now the switch is too narrow.
  std::vector<double> liking;
  double width = 0;
  for (int g = 0; g < kGpus; ++g) {
    const bool rests = rng.uniform() < 0.5;
    liking.push_back(rests ? 0 : 0.1 + rng.uniform());
    width += rests ? 0 : wires_[out_[g]].capacity + wires_[in_[g]].capacity;
  }
  liking.push_back(1);  // the host
  const double load = 1.3 * rng.uniform();
  const double per_step = load * std::min(width, wires_[switch_].capacity) * kStep / kMeanBytes;
  const auto pick = [&] {
    double sum = 0;
    for (const double one : liking) sum += one;
    double left = rng.uniform() * sum;
    int end = 0;
    while (end < kGpus && left >= liking[end]) left -= liking[end++];
    return end;  // kGpus: the host
  };
  std::vector<Flow> flows;
  std::vector<double> rates;
  std::vector<double> loads;
  std::vector<std::vector<double>> readings(counters_.size());
  double carried = 0;
  const int warm_up = 2;  // readings, while the first transfers come
  for (int reading = -warm_up; reading < options_.readings; ++reading) {
    std::vector<double> bytes(wires_.size(), 0.0);
    std::vector<int> awaited(wires_.size(), 0);
    for (int step = 0; step < kStepsPerReading; ++step) {
      for (double due = per_step; due > 0; due -= 1) {
        if (rng.uniform() >= due) continue;
        const int from = pick();
        const int to = pick();
        if (from == to) continue;
        flows.push_back(
            {{from == kGpus ? host_in_ : out_[from], switch_}, kMeanBytes * rng.exponential()});
        if (to != kGpus) flows.back().wires.push_back(in_[to]);
      }
      share(flows, rates, loads);
      std::vector<int> users(wires_.size(), 0);
      for (const Flow& flow : flows) {
        for (const int wire : flow.wires) ++users[wire];
      }
      for (size_t w = 0; w < wires_.size(); ++w) {
        bytes[w] += loads[w] * kStep;
        awaited[w] += users[w] > 1 && loads[w] >= kFullShare * wires_[w].capacity ? 1 : 0;
      }
      size_t kept = 0;
      for (size_t f = 0; f < flows.size(); ++f) {
        flows[f].bytes_left -= rates[f] * kStep;
        if (flows[f].bytes_left > 0) std::swap(flows[kept++], flows[f]);
      }
      flows.resize(kept);
    }
    if (reading < 0) continue;
    carried += bytes[switch_];
    const double error = options_.reading_error;
    for (size_t w = 0; w < wires_.size(); ++w) {
      const Wire& wire = wires_[w];
      if (wire.traffic_counter >= 0) {
        readings[wire.traffic_counter].push_back(bytes[w] / (kStep * kStepsPerReading) +
                                                 error * wire.nominal * rng.normal());
      }
      readings[wire.waiting_counter].push_back(static_cast<double>(awaited[w]) / kStepsPerReading +
                                               error * rng.normal());
    }
  }
  Epoch epoch;
  epoch.switch_use =
      carried / (options_.readings * kStepsPerReading * kStep) / wires_[switch_].capacity;
  for (const auto& values : readings) {
    double mean = 0;
    for (const double value : values) mean += value / static_cast<double>(values.size());
    double squares = 0;
    for (const double value : values) squares += (value - mean) * (value - mean);
    epoch.observation.readings.push_back(
        {mean, std::sqrt(squares / static_cast<double>(values.size() - 1)),
         static_cast<int>(values.size())});
  }
  return epoch;
}

}  // namespace tutti
