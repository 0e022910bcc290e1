// How a belief changes with the constants of its network: the backward pass, from the slopes of a
// loss by the mean and the spread of some variables to its slopes by the raw constants.
//
// The sampling gradient is Symphony's (Banerjee et al. 2020, section 3.1, Eqs 2-5) with its
// recursion unrolled and its weights put right: as printed, Eq. 3 weighs by how often a value was
// drawn where the integral it stands for has no such weight, and the result can point the wrong way
// (gradient_test shows it). With s the sum over variables of d log f / d constant and h any
// function of the variables,
//   d E[h | given] = E[h s | given] - E[h | given] E[s | given],
// which needs no polytree and no search for separating sets. If a constant cannot change a
// variable, because evidence separates them (Bayes-ball), the product has mean 0 and is left out:
// it would only add noise.
//
// The path gradient differentiates the samples themselves, noise held fixed. It is less noisy and
// needs smooth laws; the two check each other.

#ifndef TUTTI_BELIEF_GRADIENT_H_
#define TUTTI_BELIEF_GRADIENT_H_

#include <span>
#include <vector>

#include "tutti/belief/sampling.h"

namespace tutti {

// The slopes of a loss by one variable's mean and spread.
struct Sensitivity {
  VariableId variable{};
  double by_mean = 0;
  double by_spread = 0;
};

// Which variables the constants of each variable's law can change, given which are observed. Build
// it once for a network and a set of observed variables.
class Reach {
 public:
  Reach(const Network& network, std::span<const VariableId> observed);

  // Variables whose laws move the same others share a set.
  int set_count() const { return static_cast<int>(sets_.size()); }
  int set_of(VariableId id) const { return set_of_[id.index]; }
  bool moves(int set, VariableId other) const { return sets_[set][other.index]; }

 private:
  std::vector<std::vector<bool>> sets_;
  std::vector<int> set_of_;
};

// Slopes of the loss by each raw constant. `given` is what the samples were drawn from; the samples
// may be drawn in any other way.
std::vector<double> sampling_gradient(const Network& network, const Given& given,
                                      const Samples& samples, const Reach& reach,
                                      std::span<const Sensitivity> sensitivities, int threads = 1);

// The same, along the paths of the samples. Requires relations (relation.h) for all laws.
std::vector<double> path_gradient(const Network& network, const Given& given,
                                  const Samples& samples, const Reach& reach,
                                  std::span<const Sensitivity> sensitivities, int threads = 1);

// Slopes of the logarithm of the evidence's probability by each raw constant, E[s | given]
// (Fisher's identity), along the paths of the samples. With it a network learns from its own
// counters, without another loss.
std::vector<double> evidence_path_gradient(const Network& network, const Given& given,
                                           const Samples& samples, int threads = 1);

}  // namespace tutti

#endif  // TUTTI_BELIEF_GRADIENT_H_
