// Noise is how a cost spreads around its mean: a factor by which one draw differs from the mean.
// The factor's own mean is 1, so that "mean" in a cost file is true whatever the noise.

#ifndef TUTTI_COSTS_NOISE_H_
#define TUTTI_COSTS_NOISE_H_

#include <cstdint>

#include "tutti/base/random.h"

namespace tutti {

struct NoiseSpec {
  enum class Model : uint8_t { none, log_normal, student_t };
  Model model = Model::none;
  double spread = 0;   // log_normal: standard deviation over mean; student_t: the scale s
  double freedom = 3;  // student_t: degrees of freedom, at least 3
};

class Noise {
 public:
  Noise() = default;
  explicit Noise(const NoiseSpec& spec);

  const NoiseSpec& spec() const { return spec_; }
  bool none() const { return spec_.model == NoiseSpec::Model::none; }

  // log_normal: exp(sigma z - sigma^2 / 2) with sigma^2 = ln(1 + spread^2).
  // student_t: 1 + s t_nu, cut to [0.1, 1000], divided by the mean that the cut leaves.
  double draw(Rng& rng) const;

  // Every draw lies between these two.
  double least_factor() const;
  double most_factor() const;

 private:
  NoiseSpec spec_;
  double sigma_ = 0;
  double cut_mean_ = 1;
};

}  // namespace tutti

#endif  // TUTTI_COSTS_NOISE_H_
