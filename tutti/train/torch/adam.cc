#include "tutti/train/torch/adam.h"

#include <cmath>
#include <limits>

#include "tutti/policy/nn/processors.h"

namespace tutti {
namespace {

constexpr double kAdamEpsilon = 1e-8;

}  // namespace

TUTTI_FOR_EVERY_PROCESSOR
bool apply_adam(const AdamStep& step, const AdamRange& range) {
  const auto rate = static_cast<float>(step.learning_rate / step.first_share);
  const auto spread_scale = static_cast<float>(1 / step.second_share);
  const auto gradient_scale = static_cast<float>(step.scale);
  constexpr auto kFirst = static_cast<float>(kAdamFirstDecay);
  constexpr auto kSecond = static_cast<float>(kAdamSecondDecay);
  constexpr auto kSmall = static_cast<float>(kAdamEpsilon);
  constexpr float kLargest = std::numeric_limits<float>::max();
  const float* gradient = range.gradient;
  const float* old_first = range.first;
  const float* old_second = range.second;
  const float* old_parameter = range.parameter;
  float* next_first = range.next_first;
  float* next_second = range.next_second;
  float* next_parameter = range.next_parameter;
  const int64_t count = range.count;
  int outside = 0;
  // Old and new are the same or far apart.
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) {
    const float g = gradient[i] * gradient_scale;
    const float first = kFirst * old_first[i] + (1 - kFirst) * g;
    const float second = kSecond * old_second[i] + (1 - kSecond) * g * g;
    const float parameter =
        old_parameter[i] - rate * first / (std::sqrt(second * spread_scale) + kSmall);
    next_first[i] = first;
    next_second[i] = second;
    next_parameter[i] = parameter;
    outside |= std::abs(parameter) <= kLargest ? 0 : 1;
  }
  return outside == 0;
}

}  // namespace tutti
