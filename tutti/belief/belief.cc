#include "tutti/belief/belief.h"

#include <algorithm>
#include <cmath>

#include "tutti/base/check.h"

namespace tutti {
namespace {

// The prior of a share without a counter: it may be anything, but most resources are mostly idle.
constexpr CounterBelief kUnknown{.center = 0.25, .scale = 0.25};

CounterBelief in_units(CounterBelief belief, double unit) {
  belief.center /= unit;
  belief.scale /= unit;
  return belief;
}

CounterBelief root_value(const InputVariable& told, std::span<const CounterReading> readings) {
  if (told.counter < 0 || readings[told.counter].count == 0) return kUnknown;
  return in_units(belief_of(readings[told.counter]), told.unit);
}

CounterBelief launched_value(const InputVariable& told, std::span<const Launched> launched) {
  CounterBelief sum;
  for (const Launched& item : launched) {
    if (item.resource != told.resource) continue;
    sum.center += item.mean / told.unit;
    const double spread = item.spread / told.unit;
    sum.scale = std::sqrt(sum.scale * sum.scale + spread * spread);
  }
  return sum;
}

std::vector<VariableId> variables_of(const std::vector<InputVariable>& list) {
  std::vector<VariableId> ids;
  for (const InputVariable& told : list) ids.push_back(told.variable);
  return ids;
}

}  // namespace

Belief::Belief(const Machine& machine, std::span<const Counter> counters)
    : built_(build_machine_network(machine, counters)),
      counter_count_(counters.size()),
      reach_(built_.network, variables_of(built_.observed)) {}

Given Belief::given(std::span<const double> constants, const Observation& observation) const {
  TUTTI_CHECK(observation.readings.size() == counter_count_);
  Given known{.constants = {constants.begin(), constants.end()}};
  for (const InputVariable& told : built_.measured)
    known.roots.push_back({told.variable, root_value(told, observation.readings)});
  for (const InputVariable& told : built_.launched)
    known.roots.push_back({told.variable, launched_value(told, observation.launched)});
  std::sort(known.roots.begin(), known.roots.end(),
            [](const Root& a, const Root& b) { return a.variable < b.variable; });
  for (const InputVariable& told : built_.observed) {
    const CounterReading& reading = observation.readings[told.counter];
    if (reading.count == 0) continue;  // then it is a leaf like any other
    const CounterBelief seen = belief_of(reading);
    known.evidence.push_back({told.variable, seen.center, seen.scale * seen.scale});
  }
  return known;
}

Inferred Belief::infer(std::span<const double> constants, const Observation& observation,
                       const SampleOptions& options) const {
  Given known = given(constants, observation);
  Samples samples = draw_samples(network(), known, options);
  Inferred inferred{
      .mean = {}, .spread = {}, .samples = std::move(samples), .given = std::move(known)};
  for (const Believed& item : resources()) {
    inferred.mean.push_back(inferred.samples.mean(item.variable));
    inferred.spread.push_back(inferred.samples.spread(item.variable));
  }
  return inferred;
}

std::vector<double> Belief::backward(const Inferred& inferred, std::span<const double> by_mean,
                                     std::span<const double> by_spread, GradientKind kind,
                                     int threads) const {
  TUTTI_CHECK(by_mean.size() == resources().size());
  TUTTI_CHECK(by_spread.empty() || by_spread.size() == resources().size());
  std::vector<Sensitivity> sensitivities;
  for (size_t r = 0; r < by_mean.size(); ++r) {
    sensitivities.push_back(
        {resources()[r].variable, by_mean[r], by_spread.empty() ? 0 : by_spread[r]});
  }
  return kind == GradientKind::path ? path_gradient(network(), inferred.given, inferred.samples,
                                                    reach_, sensitivities, threads)
                                    : sampling_gradient(network(), inferred.given, inferred.samples,
                                                        reach_, sensitivities, threads);
}

std::vector<double> Belief::evidence_slopes(const Inferred& inferred, int threads) const {
  return evidence_path_gradient(network(), inferred.given, inferred.samples, threads);
}

}  // namespace tutti
