// A Law says how one variable is distributed given its parents and some constants.
//
// Laws work on columns: the same variable in many samples, side by side, so that one call does the
// work of a whole block and loops become vector instructions. A Law has no state; any number of
// threads may use it.

#ifndef TUTTI_BELIEF_LAW_H_
#define TUTTI_BELIEF_LAW_H_

#include <span>
#include <string_view>

#include "tutti/base/check.h"
#include "tutti/base/random.h"

namespace tutti {

// Samples are handled in blocks of at most this many, each with random numbers of its own, so that
// results are the same with any number of threads.
inline constexpr int kBlock = 64;

// What a law is asked about: one variable's parents and constants in one block of samples.
struct Family {
  int count = 0;                             // samples, at most kBlock
  std::span<const double* const> parents{};  // a column each
  std::span<const double> constants{};       // their natural values
  double reading_variance = 0;               // of an observed variable: how sure its counter is
};

class Law {
 public:
  virtual ~Law() = default;

  // For people: what a variable is, by its parents and, in their order, its constants.
  virtual std::string_view formula() const = 0;

  // Draws x[i] for each sample.
  virtual void draw(const Family& family, Rng& rng, double* x) const = 0;

  // sum[i] += log f(x[i] | parents). What does not depend on x, parents or constants may be left
  // out.
  virtual void add_log_density(const Family& family, const double* x, double* sum) const = 0;

  // gradient[k] += sum over i of weight[i] * d log f(x[i] | parents) / d constant k. The same by
  // each parent's x[i] is added to parent_slopes[p][i], unless that is null.
  virtual void add_score(const Family& family, const double* x, const double* weight,
                         double* const* parent_slopes, double* gradient) const = 0;

  // For laws that draw x = F(parents, constants, noise) with F smooth: gradient[k] += sum over i of
  // slope[i] * d x[i] / d constant k with the noise held fixed, and the same by parents.
  virtual void add_path(const Family& /*family*/, const double* /*x*/, const double* /*slope*/,
                        double* const* /*parent_slopes*/, double* /*gradient*/) const {
    TUTTI_CHECK(!"this law has no smooth path");
  }
};

}  // namespace tutti

#endif  // TUTTI_BELIEF_LAW_H_
