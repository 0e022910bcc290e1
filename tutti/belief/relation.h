// Relations: laws whose variable is normal around a smooth function of its parents,
//   x = g(parents; constants) + s * noise,
// with s the last constant of each. Without the noise a variable would have no density, and neither
// likelihoods nor sampling gradients (Banerjee et al. 2020, Eqs 2-5) would exist.

#ifndef TUTTI_BELIEF_RELATION_H_
#define TUTTI_BELIEF_RELATION_H_

#include <memory>
#include <vector>

#include "tutti/belief/law.h"

namespace tutti {

class Relation : public Law {
 public:
  // out[i] = g(parents). Without noise.
  virtual void mean(const Family& family, double* out) const = 0;
  // The transposed derivative of g: gradient[k] += sum of slope[i] * dg/d constant k, and
  // parent_slopes[p][i] += slope[i] * dg/d parent p unless that is null.
  virtual void pull(const Family& family, const double* slope, double* const* parent_slopes,
                    double* gradient) const = 0;

  void draw(const Family& family, Rng& rng, double* x) const final;
  void add_log_density(const Family& family, const double* x, double* sum) const final;
  void add_score(const Family& family, const double* x, const double* weight,
                 double* const* parent_slopes, double* gradient) const final;
  void add_path(const Family& family, const double* x, const double* slope,
                double* const* parent_slopes, double* gradient) const final;
};

// min(1, x) with a rounded corner, of width `kCorner`: what a resource of capacity 1 carries if x
// is asked of it.
inline constexpr double kCorner = 0.05;
double saturate(double x);

// saturate(sum of factor * parent / capacity). Parents that are shares of a capacity of their own,
// `scaled`, are multiplied by it. Constants: capacity, that of each scaled parent, s.
std::shared_ptr<const Relation> saturating_load(std::vector<double> factors,
                                                const std::vector<bool>& scaled = {});

// saturate(sum of weight * parent). Constants: a weight for each parent, s.
std::shared_ptr<const Relation> saturating_mixture();

// 1 - product of (1 - weight * parent): busy if any is. Constants: a weight for each parent, s.
std::shared_ptr<const Relation> any_of();

// Symphony's theta_MB. Parent k is the share of time with at least thresholds[k] requests
// outstanding; the relation is the share at the threshold theta, divided by that at the first.
// Between thresholds it is linear in the logarithm of theta, so that it has a derivative by theta.
// Constants: theta, s. Requires at least two thresholds, rising, from 1 on.
std::shared_ptr<const Relation> share_above_threshold(std::vector<int> thresholds);

// parent ^ power: the share of time in which something waits for a resource of this utilisation: 0
// for an idle one and 1 for a full one, whatever the power. Constants: power, s.
std::shared_ptr<const Relation> power_of();

// The mean of the parents. Constants: s.
std::shared_ptr<const Relation> mean_of();

}  // namespace tutti

#endif  // TUTTI_BELIEF_RELATION_H_
