#include "tutti/costs/noise.h"

#include <algorithm>
#include <cmath>

namespace tutti {
namespace {

constexpr double kLeastFactor = 0.1;
constexpr double kMostFactor = 1000;

double cut(double factor) {
  return std::clamp(factor, kLeastFactor, kMostFactor);
}

// The quantile function of Student's t is awkward; its density is not. The mean of the cut factor
// is the integral of cut(1 + s t) over the density, by the substitution t = sqrt(nu) tan(a), under
// which the density becomes proportional to cos(a)^(nu - 1) on a finite interval (midpoint rule).
double mean_after_cut(double spread, double freedom) {
  constexpr int kSteps = 200000;
  const double half_pi = std::acos(0.0);
  double mass = 0;
  double moment = 0;
  for (int i = 0; i < kSteps; ++i) {
    const double angle = -half_pi + (i + 0.5) * (2 * half_pi / kSteps);
    const double weight = std::pow(std::cos(angle), freedom - 1);
    mass += weight;
    moment += weight * cut(1 + spread * std::sqrt(freedom) * std::tan(angle));
  }
  return moment / mass;
}

}  // namespace

Noise::Noise(const NoiseSpec& spec) : spec_(spec) {
  if (spec.spread == 0) spec_.model = NoiseSpec::Model::none;
  if (spec_.model == NoiseSpec::Model::log_normal) {
    sigma_ = std::sqrt(std::log1p(spec.spread * spec.spread));
  }
  if (spec_.model == NoiseSpec::Model::student_t) {
    cut_mean_ = mean_after_cut(spec.spread, spec.freedom);
  }
}

double Noise::draw(Rng& rng) const {
  switch (spec_.model) {
    case NoiseSpec::Model::none:
      return 1;
    case NoiseSpec::Model::log_normal:
      return std::exp(sigma_ * rng.normal() - sigma_ * sigma_ / 2);
    case NoiseSpec::Model::student_t:
      return cut(1 + spec_.spread * rng.student_t(spec_.freedom)) / cut_mean_;
  }
  return 1;
}

double Noise::least_factor() const {
  switch (spec_.model) {
    case NoiseSpec::Model::none:
      return 1;
    case NoiseSpec::Model::log_normal:
      return std::exp(-sigma_ * Rng::kMostNormal - sigma_ * sigma_ / 2);
    case NoiseSpec::Model::student_t:
      return kLeastFactor / cut_mean_;
  }
  return 1;
}

double Noise::most_factor() const {
  switch (spec_.model) {
    case NoiseSpec::Model::none:
      return 1;
    case NoiseSpec::Model::log_normal:
      return std::exp(sigma_ * Rng::kMostNormal - sigma_ * sigma_ / 2);
    case NoiseSpec::Model::student_t:
      return kMostFactor / cut_mean_;
  }
  return 1;
}

}  // namespace tutti
