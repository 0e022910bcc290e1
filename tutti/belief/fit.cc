#include "tutti/belief/fit.h"

#include <algorithm>
#include <cmath>

#include "tutti/base/check.h"

namespace tutti {

void Adam::step(std::span<const double> slopes, std::vector<double>& values) {
  constexpr double kMeanDecay = 0.9;
  constexpr double kSquareDecay = 0.999;
  constexpr double kTiny = 1e-8;
  TUTTI_CHECK(slopes.size() == mean_.size() && values.size() == mean_.size());
  ++steps_;
  const double mean_share = 1 - std::pow(kMeanDecay, steps_);
  const double square_share = 1 - std::pow(kSquareDecay, steps_);
  for (size_t k = 0; k < values.size(); ++k) {
    mean_[k] = kMeanDecay * mean_[k] + (1 - kMeanDecay) * slopes[k];
    square_[k] = kSquareDecay * square_[k] + (1 - kSquareDecay) * slopes[k] * slopes[k];
    values[k] -= rate_ * (mean_[k] / mean_share) / (std::sqrt(square_[k] / square_share) + kTiny);
  }
}

std::vector<double> fit_constants(const Belief& belief, std::vector<double> constants,
                                  std::span<const Observation> observations,
                                  const FitOptions& options) {
  Adam adam(constants.size(), options.rate);
  const Rng rng(options.sampling.seed);
  for (int pass = 0; pass < options.passes; ++pass) {
    for (size_t first = 0; first < observations.size();) {
      const size_t end = std::min(observations.size(), first + static_cast<size_t>(options.batch));
      std::vector<double> slopes(constants.size(), 0.0);
      for (size_t i = first; i < end; ++i) {
        SampleOptions sampling = options.sampling;
        sampling.seed = rng.split(static_cast<uint64_t>(pass)).split(i).next();
        const Inferred inferred = belief.infer(constants, observations[i], sampling);
        const auto some = belief.evidence_slopes(inferred, sampling.threads);
        for (size_t k = 0; k < slopes.size(); ++k)
          slopes[k] -= some[k] / static_cast<double>(end - first);
      }
      adam.step(slopes, constants);
      first = end;
    }
  }
  return constants;
}

}  // namespace tutti
