// Samples of a network's variables given what is known: drawn forward from the roots, and weighted
// by how well they explain what was observed below them (likelihood weighting).
//
// Where only roots are known, as in Symphony's network, whose measured variables are roots, forward
// samples are exact samples of the posterior and all weights are equal.

#ifndef TUTTI_BELIEF_SAMPLING_H_
#define TUTTI_BELIEF_SAMPLING_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "tutti/belief/counter_belief.h"
#include "tutti/belief/network.h"

namespace tutti {

// The distribution of one root: center + scale * (Student's t, or normal if freedom is 0), t cut to
// `most`. A scale of 0 means that it is known.
struct Root {
  VariableId variable{};
  CounterBelief value{};
};

// A variable with a law whose value was read. `variance` is the counter's own.
struct Evidence {
  VariableId variable{};
  double value = 0;
  double variance = 0;
};

// All that is known when samples are asked for.
struct Given {
  std::vector<double> constants;     // raw, one for each of the network's
  std::vector<Root> roots{};         // one for each root, by rising id
  std::vector<Evidence> evidence{};  // by rising id
};

struct SampleOptions {
  int samples = 256;
  uint64_t seed = 1;
  int threads = 1;
};

class Samples {
 public:
  Samples(int32_t variables, int count);

  int count() const { return count_; }
  // The block's samples of one variable; blocks are kBlock long but the last.
  double* column(VariableId id, int block) { return &values_[offset(id, block)]; }
  const double* column(VariableId id, int block) const { return &values_[offset(id, block)]; }
  // All samples of one variable.
  std::span<const double> column(VariableId id) const {
    return {column(id, 0), static_cast<size_t>(count_)};
  }
  int blocks() const { return (count_ + kBlock - 1) / kBlock; }
  int block_size(int block) const { return std::min(kBlock, count_ - block * kBlock); }

  // How much each sample counts; they add up to 1.
  std::vector<double> weights;
  // The logarithm of the mean likelihood of the evidence, up to a constant; 0 without evidence.
  double log_evidence = 0;

  double mean(VariableId id) const;
  // The standard deviation.
  double spread(VariableId id) const;
  // How many equally weighted samples carry as much information: 1 / sum of squared weights.
  double effective() const;

 private:
  size_t offset(VariableId id, int block) const {
    return static_cast<size_t>(id.index) * static_cast<size_t>(count_) +
           static_cast<size_t>(block) * kBlock;
  }

  int count_;
  std::vector<double> values_;  // variable by variable
};

// Requires a root value for every root and raw values for every constant.
Samples draw_samples(const Network& network, const Given& given, const SampleOptions& options);

// One variable's family in one block of samples: what its law is asked with. It points into the
// samples and constants it was made from.
class FamilyView {
 public:
  FamilyView(const Network& network, VariableId id, const Samples& samples, int block,
             std::span<const double> natural_constants, double reading_variance);
  const Family& family() const { return family_; }

 private:
  std::vector<const double*> parents_;
  std::vector<double> constants_;
  Family family_;
};

// For each variable its evidence, or null.
std::vector<const Evidence*> evidence_by_variable(const Network& network, const Given& given);
// For each variable its root value, or null.
std::vector<const Root*> roots_by_variable(const Network& network, const Given& given);

// log density of a root's value up to a constant; minus infinity outside of its range.
double log_density(const CounterBelief& belief, double x);

}  // namespace tutti

#endif  // TUTTI_BELIEF_SAMPLING_H_
