// A Belief turns readings of counters, and the demand of ops launched since, into what is known
// about every shared resource of a machine: mean, spread and samples of its utilisation. It also
// has a backward pass: from the slopes of a loss by those means and spreads to its slopes by the
// constants of the network, so that training a policy also improves its belief.
//
//   const Belief belief(machine, sampler.counters());
//   std::vector<double> constants = belief.network().start();
//   const Inferred now = belief.infer(constants, {sampler.take(), launched}, {.seed = 7});
//   ... now.mean[r] is that of belief.resources()[r] ...
//   const auto slopes = belief.backward(now, by_mean, by_spread);
//
// The network is built once for a machine (machine_network.h); a Belief is immutable and may be
// used from any number of threads. Same observation, constants and seed: same numbers.

#ifndef TUTTI_BELIEF_BELIEF_H_
#define TUTTI_BELIEF_BELIEF_H_

#include <span>
#include <vector>

#include "tutti/belief/gradient.h"
#include "tutti/belief/machine_network.h"
#include "tutti/belief/sampling.h"

namespace tutti {

struct Observation {
  std::vector<CounterReading> readings;  // one for each of the belief's counters
  std::vector<Launched> launched{};      // nothing was launched on other resources
};

// What was inferred, with all that the backward pass needs.
struct Inferred {
  std::vector<double> mean;    // one for each of the belief's resources
  std::vector<double> spread;  // standard deviations
  Samples samples;             // of every variable
  Given given;
};

enum class GradientKind : uint8_t { sampling, path };

class Belief {
 public:
  Belief(const Machine& machine, std::span<const Counter> counters);

  const MachineNetwork& built() const { return built_; }
  const Network& network() const { return built_.network; }
  const std::vector<Believed>& resources() const { return built_.resources; }
  // How many of the variables are told by counters, present or not.
  int measured_count() const {
    return static_cast<int>(built_.measured.size() + built_.observed.size());
  }

  // `constants` are raw. Requires as many readings as there were counters.
  Inferred infer(std::span<const double> constants, const Observation& observation,
                 const SampleOptions& options = {}) const;

  // Slopes by each raw constant. Requires a slope for each resource; `by_spread` may be empty.
  std::vector<double> backward(const Inferred& inferred, std::span<const double> by_mean,
                               std::span<const double> by_spread = {},
                               GradientKind kind = GradientKind::sampling, int threads = 1) const;

  // Slopes of the logarithm of how likely the observed waiting is, along the paths of the samples.
  // All 0 if nothing below the roots was observed.
  std::vector<double> evidence_slopes(const Inferred& inferred, int threads = 1) const;

  // What infer samples from, and which variables can change which: for other methods of inference.
  Given given(std::span<const double> constants, const Observation& observation) const;
  const Reach& reach() const { return reach_; }

 private:
  MachineNetwork built_;
  size_t counter_count_;
  Reach reach_;
};

}  // namespace tutti

#endif  // TUTTI_BELIEF_BELIEF_H_
