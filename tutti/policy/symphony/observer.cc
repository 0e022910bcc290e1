#include "tutti/policy/symphony/observer.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "tutti/base/check.h"

namespace tutti {
namespace {

SeenColumn column_of(Quantity quantity) {
  switch (quantity) {
    case Quantity::waiting:
      return kWaiting;
    case Quantity::outstanding:
      return kOutstanding;
    default:
      return kAmount;
  }
}

}  // namespace

Observer::Observer(const Cluster& cluster, const Topology& topology, std::vector<Counter> counters,
                   const SymphonyShape& shape)
    : shape_(shape), counters_(std::move(counters)), vertices_(topology.size()) {
  for (int v = 0; v < topology.size(); ++v) resources_.push_back(topology.resource(v));
  std::map<std::pair<int, int>, int> count;
  for (const Counter& counter : counters_) {
    const bool counts = counter.quantity != Quantity::other;
    vertex_.push_back(counts ? topology.vertex_of(counter.resource) : -1);
    const int32_t shared = cluster.resources().find(counter.resource);
    unit_.push_back(counter.quantity == Quantity::traffic && shared >= 0
                        ? cluster.resources()[shared].capacity
                        : 1);
    ++count[{vertex_.back(), column_of(counter.quantity)}];
  }
  for (size_t c = 0; c < counters_.size(); ++c) {
    const int alike = count[{vertex_[c], column_of(counters_[c].quantity)}];
    share_.push_back(1.0F / static_cast<float>(alike));
  }
  if (shape.knowledge != InformationLevel::belief) return;
  belief_ = std::make_unique<Belief>(cluster.machine(), counters_);
  for (const Believed& item : belief_->resources()) {
    believed_.push_back(topology.vertex_of(item.resource));
  }
  for (const DeviceId device : cluster.machine().devices()) {
    if (!is_cpu(cluster.machine(), device)) continue;
    for (int c = 0; c < cores_of(cluster.machine().device(device)); ++c)
      cores_[resource_of(device)].push_back(topology.vertex_of(core_of(device, c)));
  }
  for (int v = 0; v < topology.size(); ++v) {
    const int32_t shared = cluster.resources().find(topology.resource(v));
    capacities_.push_back(shared >= 0 ? cluster.resources()[shared].capacity : 1);
    vertex_of_[topology.resource(v)] = v;
  }
}

Observation Observer::observation(const WorldState& state) const {
  Observation seen{.readings = state.readings};
  seen.readings.resize(counters_.size());  // before the first interval there are none
  if (!shape_.counter_errors) {
    for (CounterReading& reading : seen.readings) reading.spread = 0;
  }
  if (shape_.launched) seen.launched = state.launched;
  return seen;
}

// The naive ratio: what is counted over what the machine states, means over counters of one sort.
void Observer::read_counters(const Observation& observation, DecisionFeatures& features) const {
  for (size_t c = 0; c < counters_.size(); ++c) {
    const CounterReading& reading = observation.readings[c];
    if (vertex_[c] < 0 || reading.count == 0) continue;
    float* row = &features.seen[static_cast<size_t>(vertex_[c]) * kVertexSeen];
    const SeenColumn column = column_of(counters_[c].quantity);
    const auto value = static_cast<float>(reading.mean / unit_[c]);
    row[column] += share_[c] * value;
    if (column != kAmount) continue;
    row[kUse] += share_[c] * value;
    row[kSpread] += share_[c] * static_cast<float>(reading.spread / unit_[c] /
                                                   std::sqrt(static_cast<double>(reading.count)));
    row[kKnown] = 1;
  }
}

void Observer::observe(const Observation& observation, std::span<const double> constants,
                       uint64_t seed, const Truth& truth, DecisionFeatures& features) const {
  features.seen.assign(static_cast<size_t>(vertices_) * kVertexSeen, 0.0F);
  switch (shape_.knowledge) {
    case InformationLevel::nothing:
      return;
    case InformationLevel::counters:
      features.counters.assign(counters_.size(), 0.0F);
      for (size_t c = 0; c < counters_.size(); ++c)
        features.counters[c] = static_cast<float>(observation.readings[c].mean / unit_[c]);
      return;
    case InformationLevel::topology:
      read_counters(observation, features);
      return;
    case InformationLevel::belief:
      believe(observation, constants, seed, features.seen.data());
      add_launched(observation, features);
      return;
    case InformationLevel::truth:
      TUTTI_CHECK(truth);
      for (int v = 0; v < vertices_; ++v) {
        float* row = &features.seen[static_cast<size_t>(v) * kVertexSeen];
        row[kUse] = static_cast<float>(truth(resources_[static_cast<size_t>(v)]));
        row[kKnown] = 1;
      }
      return;
  }
}

// What was launched since the counters were read is believed to be in use, and is our own.
void Observer::add_launched(const Observation& observation, DecisionFeatures& features) const {
  for (const Launched& item : observation.launched) {
    const auto found = vertex_of_.find(item.resource);
    if (found == vertex_of_.end()) continue;
    const auto v = static_cast<size_t>(found->second);
    features.own_before[v] += static_cast<float>(item.mean / capacities_[v]);
    const auto cores = cores_.find(item.resource);  // of a CPU it is told what a core has of it
    if (cores == cores_.end()) continue;
    for (const int core : cores->second)
      features.own_before[static_cast<size_t>(core)] += static_cast<float>(item.mean);
  }
}

Inferred Observer::believe(const Observation& observation, std::span<const double> constants,
                           uint64_t seed, float* seen) const {
  TUTTI_CHECK(belief_ != nullptr);
  Inferred inferred =
      belief_->infer(constants, observation, {.samples = shape_.samples, .seed = seed});
  for (size_t r = 0; r < believed_.size(); ++r) {
    if (believed_[r] < 0) continue;
    float* row = seen + static_cast<size_t>(believed_[r]) * kVertexSeen;
    row[kUse] = static_cast<float>(inferred.mean[r]);
    row[kSpread] = static_cast<float>(inferred.spread[r]);
    row[kKnown] = 1;
  }
  return inferred;
}

std::vector<double> Observer::backward(const Inferred& inferred, const float* slopes,
                                       GradientKind kind) const {
  std::vector<double> by_mean(believed_.size(), 0.0);
  std::vector<double> by_spread(believed_.size(), 0.0);
  for (size_t r = 0; r < believed_.size(); ++r) {
    if (believed_[r] < 0) continue;
    const float* row = slopes + static_cast<size_t>(believed_[r]) * kVertexSeen;
    by_mean[r] = row[kUse];
    by_spread[r] = row[kSpread];
  }
  return belief_->backward(inferred, by_mean, by_spread, kind);
}

}  // namespace tutti
